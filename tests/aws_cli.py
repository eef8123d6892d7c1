"""What commands of the AWS CLI take: the members of an operation's input, by botocore, and what the CLI adds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import botocore.session
from botocore import xform_name
from botocore.model import ServiceModel

# AWS CLI: options that are none of the API's, by command (AWS CLI reference, ec2 authorize-security-group-ingress,
# cloudformation deploy, eks update-kubeconfig).
OWN = {
    ("ec2", "authorize-security-group-ingress"): {"protocol", "port", "cidr"},
    ("cloudformation", "deploy"): {
        "stack-name",
        "template-file",
        "capabilities",
        "no-fail-on-empty-changeset",
        "tags",
        "parameter-overrides",
    },
    ("eks", "update-kubeconfig"): {"name", "kubeconfig"},
}
WAITERS = {
    ("ec2", "vpc-peering-connection-exists"): "DescribeVpcPeeringConnections",
    ("cloudformation", "stack-delete-complete"): "DescribeStacks",
}


@cache
def service_model(service: str) -> ServiceModel:
    """What botocore knows of a service. EC2's is 4 MB of JSON, so each is read once."""
    return botocore.session.get_session().get_service_model(service)


@cache
def api_options(service: str, command: str) -> frozenset[str]:
    """The options of an AWS CLI command: the members of the operation's input (botocore)."""
    own = frozenset(OWN.get((service, command), ()))
    if own and command != "authorize-security-group-ingress":
        return own
    model = service_model({"s3api": "s3"}.get(service, service))
    operations = {xform_name(each, "-"): each for each in model.operation_names}
    assert command in operations or command in WAITERS.values(), (service, command)
    shape = model.operation_model(operations.get(command, command)).input_shape
    return own.union(xform_name(each, "-") for each in shape.members)


def unknown_options(call: Sequence[str]) -> set[str]:
    """The options of a call (``aws SERVICE COMMAND …``) that its command does not take."""
    service, command = call[1], call[2]
    if service == "s3":  # `aws s3` is no API of its own
        return set()
    if command == "wait":
        command = WAITERS[service, call[3]]
    options = {each[2:].partition("=")[0] for each in call if each.startswith("--")}
    unknown = options - EVERY - api_options(service, command)
    switches = {f"no-{each}" for each in api_options(service, command)}
    return unknown - switches


EVERY = {"region", "query", "output", "no-cli-pager", "no-paginate", "max-items"}
"""Options of every command, and of those that answer page by page."""
