"""The names of what the bootstrap makes for all nodes."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.catalog.managed_policies import arn_of
from compiler.context import Context
from compiler.core.network.spec import NetworkSection

NODES_GROUP = "${NODES_SECURITY_GROUP}"
"""The variable that stands for the security group of all nodes until the bootstrap has made it."""


def node_stack(context: Context) -> str:
    """The stack of what all nodes need."""
    return f"trainyard-{context.name}-nodes"


def nodes_export(context: Context) -> str:
    """The export that has the security group of all nodes."""
    return f"{node_stack(context)}-group"


def node_policy(context: Context) -> str:
    """The policy of all nodes."""
    return f"trainyard-{context.name}-nodes-{context.spec.region}"


def policies(context: Context, own: Iterable[str]) -> tuple[str, ...]:
    """The policies of all nodes: that of Session Manager, that of what they read, and the spec's own."""
    partition, account = context.partition, context.spec.account
    return (
        arn_of("AmazonSSMManagedInstanceCore", partition),
        f"arn:{partition}:iam::{account}:policy/{node_policy(context)}",
        *own,
    )


def security_groups(context: Context) -> tuple[str, ...]:
    """The security groups of all nodes beside ParallelCluster's own."""
    existing = NetworkSection.of(context.spec).network.existing
    return (NODES_GROUP, *(existing.security_groups if existing is not None else ()))


def script(context: Context, name: str) -> str:
    """The place of what nodes run."""
    return f"s3://{scripts_bucket(context)}/nodes/{name}.sh"


def scripts_bucket(context: Context) -> str:
    """The bucket of what nodes run when they are set up, and of the scripts of jobs; its name is its own in all
    accounts (S3 user guide, bucketnamingrules)."""
    return f"{context.name[:20].rstrip('-')}-scripts-{context.spec.account}-{context.spec.region}"
