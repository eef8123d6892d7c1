"""What the core asks of ParallelCluster (``compiler/trainyard/plan/features.py``, ``Platform.answers``)."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.catalog import Release
from trainyard.core.jobs.job import Kind
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.spec import NodePool
from trainyard.extensions.parallelcluster.batch.kind import BATCH
from trainyard.extensions.parallelcluster.settings.names import nodes_export
from trainyard.extensions.parallelcluster.share import node_share
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.models.cluster import ClusterSpec
from trainyard.plan.context import Context

__all__ = [
    "NOT_GIVEN",
    "check_release",
    "kinds",
    "launcher",
    "node_share",
    "nodes_export",
    "own_versions",
    "settle",
]


NOT_GIVEN: Mapping[str, str] = {
    "Launch": "ParallelCluster writes the launch templates of its nodes",
    "PersistentVolume": "nodes mount file systems themselves, by what the configuration says of each",
    "VolumeClaim": "a job has the folders that its nodes have mounted",
}
"""Nodes of the core that it has none of."""


class HeadNodeLauncher(Launcher):
    """ParallelCluster's daemons on the head node launch nodes when Slurm wants them."""

    name = "ParallelCluster"


_LAUNCHER = HeadNodeLauncher()


def launcher(context: Context, pool: NodePool) -> Launcher:
    """What launches the nodes of a pool."""
    return _LAUNCHER


def kinds() -> Mapping[str, Kind]:
    """What runs a job: a batch script of Slurm."""
    return {BATCH.name: BATCH}


def own_versions(spec: ClusterSpec) -> dict[str, str]:
    """No version is given but by the release."""
    return {}


def check_release(spec: ClusterSpec, release: Release) -> list[Diagnostic]:
    """Nothing is wrong with versions that cannot be said."""
    return []


def settle(context: Context) -> None:
    """Record the version of ParallelCluster."""
    component = context.release.components["parallelcluster"]
    context.derive(
        "cluster",
        "parallelCluster.version",
        context.version("parallelcluster"),
        f"tested together in release {context.release.name}",
        component.source,
    )
