"""The names of what the bootstrap makes for all nodes."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.catalog.managed_policies import arn_of
from trainyard.core.network.spec import NetworkSection
from trainyard.extensions.parallelcluster.settings.node_scripts import NodeScript, NodeScripts
from trainyard.extensions.parallelcluster.settings.spec import (
    CustomActions,
    OwnScript,
    ParallelCluster,
)
from trainyard.plan.context import Context
from trainyard.plan.naming import LONGEST_BUCKET, bounded

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
    derived = (
        arn_of("AmazonSSMManagedInstanceCore", partition),
        f"arn:{partition}:iam::{account}:policy/{node_policy(context)}",
    )
    return tuple(dict.fromkeys((*derived, *own)))


def security_groups(context: Context, own: Iterable[str] = ()) -> tuple[str, ...]:
    """The security groups of all nodes beside ParallelCluster's own, and those of some nodes alone."""
    existing = NetworkSection.of(context.spec).network.existing
    all_nodes = existing.security_groups if existing is not None else ()
    return tuple(dict.fromkeys((NODES_GROUP, *all_nodes, *own)))


def scripts(context: Context, own: CustomActions | None, *names: str) -> NodeScripts:
    """What nodes run: scripts of ours by their names once they are set up, then those of the spec."""
    bucket = scripts_bucket(context)
    ours = [NodeScript(f"s3://{bucket}/nodes/{name}.sh") for name in names]
    if own is None:
        return NodeScripts(configured=tuple(ours))
    return NodeScripts(
        start=tuple(map(_script, own.on_node_start)),
        configured=(*ours, *map(_script, own.on_node_configured)),
    )


def own_objects(own: ParallelCluster) -> tuple[str, ...]:
    """The objects of S3 that are scripts of the spec, as BUCKET/KEY."""
    nodes = (own.head_node, own.compute_nodes, own.login_nodes)
    actions = [each.custom_actions for each in nodes if each and each.custom_actions]
    found = (
        one.script for each in actions for one in (*each.on_node_start, *each.on_node_configured)
    )
    objects = (place.removeprefix("s3://") for place in found if place.startswith("s3://"))
    return tuple(dict.fromkeys(objects))


def _script(own: OwnScript) -> NodeScript:
    return NodeScript(own.script, tuple(own.args))


def scripts_bucket(context: Context) -> str:
    """The bucket of what nodes run when they are set up, and of the scripts of jobs; its name is its own in all
    accounts (S3 user guide, bucketnamingrules)."""
    end = f"-scripts-{context.spec.account}-{context.spec.region}"
    return bounded(context.name, LONGEST_BUCKET - len(end)) + end
