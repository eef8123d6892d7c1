"""The spec of the bootstrap: which tool creates the AWS resources."""

from pydantic import Field

from trainyard.eks.bootstrap.forms.tool import BootstrapTool
from trainyard.language.models.section import Section


class BootstrapSection(Section):
    """How what AWS must have is made."""

    bootstrap: BootstrapTool | None = Field(
        None,
        description="The tool that makes what AWS must have; unset: CloudFormation.",
        examples=[{"tool": "terraform", "state": {"bucket": "terraform-state-111122223333"}}],
    )


SECTION = BootstrapSection
