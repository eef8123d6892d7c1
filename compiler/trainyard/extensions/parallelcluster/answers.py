"""What the core asks of ParallelCluster (``compiler/trainyard/plan/features.py``, ``Platform.answers``)."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.catalog import InstanceType, Release
from trainyard.core.jobs.job import Kind
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.share import Share
from trainyard.core.pools.spec import NodePool
from trainyard.extensions.parallelcluster.batch.kind import BATCH
from trainyard.extensions.parallelcluster.settings.defaults import SCHEDULABLE_PERCENT
from trainyard.extensions.parallelcluster.settings.names import nodes_export
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

# What jobs can get of a node of Slurm: all of its CPUs, and of its memory what ParallelCluster lets Slurm give.

_SOURCE = "ParallelCluster user guide, SchedulableMemory: 95 percent unless it is said"


def node_share(context: Context, pool: NodePool, instance: InstanceType, *, efa: bool) -> Share:
    """What Slurm has of a node; it has no DaemonSets, and sets no huge pages aside."""
    memory_mib = instance.memory_mib * SCHEDULABLE_PERCENT // 100
    system_mib = instance.memory_mib - memory_mib
    what = "5 percent of the memory, for the system and Slurm"
    context.derive(f"pool/{pool.name}", "share", f"-{system_mib}Mi", what, _SOURCE)
    return Share(
        cpu=instance.vcpus,
        memory=Quantity.gib(memory_mib // 1024),
        accelerators=instance.accelerators,
        resource=instance.accelerator_resource,
        efa=instance.efa_interfaces if efa else 0,
        huge_pages=Quantity(0),
        left=(instance.vcpus * 1000, memory_mib),
        agents=(0, 0),
        no_huge_pages="Slurm counts no huge pages, and a program that forks while it has some lacks memory",
    )


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
