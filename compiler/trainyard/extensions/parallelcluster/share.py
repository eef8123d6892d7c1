"""What jobs can get of a node of Slurm: all of its CPUs, and of its memory what ParallelCluster lets Slurm give."""

from __future__ import annotations

from trainyard.catalog import InstanceType
from trainyard.core.pools.share import Share
from trainyard.core.pools.spec import NodePool
from trainyard.extensions.parallelcluster.settings.defaults import SCHEDULABLE_PERCENT
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

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
