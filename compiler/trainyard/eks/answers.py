"""What the core asks of EKS (``compiler/trainyard/plan/features.py``, ``Platform.answers``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trainyard.core.jobs.job import Kind
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.spec import NodePool
from trainyard.eks import addons
from trainyard.eks.health.watch import KARPENTER
from trainyard.eks.jobs.admission import Admission
from trainyard.eks.jobs.kinds import kinds_of_eks
from trainyard.eks.nodes.launchers import chosen
from trainyard.eks.nodes.share import node_share
from trainyard.eks.release.release import check_release, settle_versions
from trainyard.eks.release.versions import own_versions
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.eks.health.watch import NodeWatch

__all__ = [
    "addon_values",
    "admission",
    "check_release",
    "kinds",
    "launcher",
    "node_share",
    "node_watch",
    "nodes_export",
    "own_versions",
    "settle",
]


admission = Admission()


def kinds() -> Mapping[str, Kind]:
    """What runs a job, by name; the first runs those that name none."""
    return kinds_of_eks()


def launcher(context: Context, pool: NodePool) -> Launcher:
    """What launches the nodes of a pool."""
    return chosen(context.spec, pool)


def node_watch() -> NodeWatch:
    """What watches the nodes of pools, and replaces them."""
    return KARPENTER


def nodes_export(context: Context) -> str:
    """The export of the security group of all nodes (eksctl v0.230.0, pkg/cfn/builder/cluster.go)."""
    return f"eksctl-{context.name}-cluster::ClusterSecurityGroupId"


def addon_values(context: Context, component: str) -> Mapping[str, Any]:
    """What its nodes need of an add-on beside what that says itself: nothing."""
    return {}


def settle(context: Context) -> None:
    """What is recorded once every feature has resolved: the versions of what the cluster uses."""
    addons.check_release(context)
    settle_versions(context, addons.used(context))
