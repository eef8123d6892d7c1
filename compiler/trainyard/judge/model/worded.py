"""A help in the words of the tool that a resource is written for."""

from __future__ import annotations

from trainyard.core.cloud.plan import CloudResource
from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.lift.launch_templates import snake

_OF_TERRAFORM = "aws_"
"""What the address of a resource begins with; no logical name of CloudFormation has a `_`."""


def worded(resource: CloudResource, cloudformation: str, terraform: str) -> str:
    """What to write: in CloudFormation's words, or in Terraform's."""
    return terraform if _is_of_terraform(resource.logical) else cloudformation


def spelled(launch: Launch, name: str) -> str:
    """What a field is called there that EC2 calls so, as in `HttpTokens`: a template of Terraform has `http_tokens`, a
    node class `httpTokens`."""
    if not isinstance(launch, LaunchTemplate):
        return name[0].lower() + name[1:]
    if _is_of_terraform(launch.name):
        return snake(name)
    return name


def setting(launch: Launch, name: str, value: str) -> str:
    """A field with a value, as one writes it there."""
    field = spelled(launch, name)
    is_of_terraform = isinstance(launch, LaunchTemplate) and _is_of_terraform(launch.name)
    return f'`{field} = "{value}"`' if is_of_terraform else f"`{field}: {value}`"


def _is_of_terraform(logical: str) -> bool:
    return logical.startswith(_OF_TERRAFORM)
