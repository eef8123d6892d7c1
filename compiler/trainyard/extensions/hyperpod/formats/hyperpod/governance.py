"""Requests of task governance read back: teams with their nodes, and what SageMaker makes of them in the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.hyperpod import ec2_name
from trainyard.extensions.hyperpod.governance.names import (
    local_queue_of,
    namespace_of,
    priority_class_of,
)
from trainyard.extensions.hyperpod.governance.plan import (
    LEND_AND_BORROW,
    ClusterPolicy,
    ComputeQuota,
    TeamPriority,
    TeamQueue,
)
from trainyard.plan import PlanItem
from trainyard.verify.whole import Part

_CONFIG, _SHARING = "ComputeQuotaConfig", "ResourceSharingConfig"
_TARGET = "ComputeQuotaTarget"


def quota(root: Part) -> Iterator[PlanItem]:
    """The compute quota of a team, and the LocalQueue of its namespace."""
    team = root.text(_TARGET, "TeamName")
    if not team:
        return
    given = list(root.items(_CONFIG, "ComputeQuotaResources"))
    nodes = _nodes(given)
    at = root.at(_CONFIG, "ComputeQuotaResources")
    yield ComputeQuota(
        at=root.at(),
        name=root.text("Name") or "",
        team=team,
        nodes=nodes,
        sharing=root.text(_CONFIG, _SHARING, "Strategy") or LEND_AND_BORROW,
        borrowed=_nodes(root.items(_CONFIG, _SHARING, "AbsoluteBorrowLimits")),
        preempts=root.text(_CONFIG, "PreemptTeamTasks") != "Never",
        weight=root.number(_TARGET, "FairShareWeight"),
        whole=len(nodes) == len(given),
        tags=tags_of(root),
        origins={
            "nodes": at,
            "sharing": root.at(_CONFIG, _SHARING),
            "borrowed": root.at(_CONFIG, _SHARING, "AbsoluteBorrowLimits"),
            "preempts": root.at(_CONFIG, "PreemptTeamTasks"),
            "weight": root.at(_TARGET, "FairShareWeight"),
            "team": root.at(_TARGET, "TeamName"),
            "tags": root.at("Tags"),
        },
    )
    yield TeamQueue(
        at=root.at(_TARGET, "TeamName"),
        name=local_queue_of(team),
        namespace=namespace_of(team),
        cluster_queue=team,
    )


def _nodes(resources: Iterator[Part] | list[Part]) -> dict[str, int]:
    """Whole nodes by instance type; what is given as parts of nodes is left out."""
    found = {}
    for each in resources:
        name, count = each.text("InstanceType"), each.number("Count")
        if name and count is not None:
            found[ec2_name(name)] = count
    return found


def policy(root: Part) -> Iterator[PlanItem]:
    """The policy of a cluster, and the classes of its priorities."""
    classes = list(root.items("SchedulerConfig", "PriorityClasses"))
    weights = {each.text("Name") or "": each.number("Weight") or 0 for each in classes}
    yield ClusterPolicy(
        at=root.at(),
        name=root.text("Name") or "",
        priorities=weights,
        fair=root.text("SchedulerConfig", "FairShare") != "Disabled",
        tags=tags_of(root),
        origins={
            "priorities": root.at("SchedulerConfig", "PriorityClasses"),
            "fair": root.at("SchedulerConfig", "FairShare"),
            "tags": root.at("Tags"),
        },
    )
    for each in classes:
        name = each.text("Name")
        if name:
            yield TeamPriority(
                at=each.at(), name=priority_class_of(name), value=each.number("Weight") or 0
            )


def tags_of(root: Part) -> dict[str, str]:
    """The tags of a request."""
    return {tag.text("Key") or "": tag.text("Value") or "" for tag in root.items("Tags")}
