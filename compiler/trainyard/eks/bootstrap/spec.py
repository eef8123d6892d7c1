"""The spec of the bootstrap: which tool creates the AWS resources."""

from typing import TYPE_CHECKING

from pydantic import Field

from trainyard.language.models.lazy import lazy_models
from trainyard.language.models.section import Section

if TYPE_CHECKING:
    from trainyard.eks.bootstrap.forms.tool import BootstrapTool
else:
    (BootstrapTool,) = lazy_models("eks.bootstrap.forms.tool", "BootstrapTool")


class BootstrapSection(Section):
    """How what AWS must have is made."""

    bootstrap: BootstrapTool | None = Field(
        None,
        description="The tool that makes what AWS must have; unset: CloudFormation.",
        examples=[{"tool": "terraform", "state": {"bucket": "terraform-state-111122223333"}}],
    )


SECTION = BootstrapSection
