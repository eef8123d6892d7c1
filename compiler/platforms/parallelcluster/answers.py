"""What the core asks of ParallelCluster (``compiler/rooms.py``, ``Platform.answers``)."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.catalog import Release
from compiler.context import Context
from compiler.core.jobs.job import Kind
from compiler.core.pools.launcher import Launcher
from compiler.core.pools.spec import NodePool
from compiler.diagnostics import Diagnostic
from compiler.platforms.parallelcluster.batch.kind import BATCH
from compiler.platforms.parallelcluster.settings.names import nodes_export
from compiler.platforms.parallelcluster.share import node_share
from compiler.spec.cluster import ClusterSpec

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
