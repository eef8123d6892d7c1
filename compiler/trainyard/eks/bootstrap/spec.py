"""The spec of the bootstrap: which tool creates the AWS resources."""

from typing import Literal, Self

from pydantic import model_validator

from trainyard.language.models.aws import GeneralBucket, Region
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section


class StateBucket(SpecModel):
    """Where Terraform keeps its state."""

    bucket: GeneralBucket = Field(
        description="The S3 bucket of the state, which exists; it keeps versions.",
        examples=["terraform-state-111122223333"],
        bound="the name of a bucket; of `terraform` alone, which needs it",
        source="S3 user guide, bucketnamingrules",
        codes=("RES245",),
    )
    region: Region | None = Field(
        None,
        description="The Region of that bucket; unset: the cluster's.",
        examples=["us-west-2"],
        bound="a Region of the cluster's partition",
        source="EC2 API DescribeRegions; IAM user guide, reference-arns",
        codes=("RES280",),
    )


class BootstrapTool(SpecModel):
    """What people or CI run to make what AWS must have."""

    tool: Literal["cloudFormation", "terraform"] = Field(
        "cloudFormation",
        description="What makes the stacks: CloudFormation, or Terraform with a module in JSON for each.",
        examples=["terraform"],
        bound="cloudFormation, terraform; the same as before",
        source="Terraform language, backends",
        codes=("CHG028",),
    )
    state: StateBucket | None = Field(
        None,
        description="Where Terraform keeps its state; of `terraform` alone, which needs it.",
        examples=[{"bucket": "terraform-state-111122223333"}],
    )

    @model_validator(mode="after")
    def _with_state(self) -> Self:
        if self.tool == "terraform" and self.state is None:
            raise fault(
                "Terraform has no place for its state",
                "add `state: {bucket: …}`: on one person's disk the state is lost to everybody else",
                "tool",
            )
        if self.tool != "terraform" and self.state is not None:
            raise fault(
                "CloudFormation keeps its state itself",
                "remove it, or write `tool: terraform`",
                "state",
            )
        return self


class BootstrapSection(Section):
    """How what AWS must have is made."""

    bootstrap: BootstrapTool | None = Field(
        None,
        description="The tool that makes what AWS must have; unset: CloudFormation.",
        examples=[{"tool": "terraform", "state": {"bucket": "terraform-state-111122223333"}}],
    )


SECTION = BootstrapSection
