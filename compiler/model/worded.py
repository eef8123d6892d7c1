"""A help in the words of the tool that a resource is written for."""

from __future__ import annotations

from compiler.core.cloud.plan import CloudResource

_OF_TERRAFORM = "aws_"
"""What the address of a resource begins with; no logical name of CloudFormation has a `_`."""


def worded(resource: CloudResource, cloudformation: str, terraform: str) -> str:
    """What to write: in CloudFormation's words, or in Terraform's."""
    return terraform if resource.logical.startswith(_OF_TERRAFORM) else cloudformation
