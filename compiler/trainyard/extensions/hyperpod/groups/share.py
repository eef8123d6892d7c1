"""What jobs can get of a node of HyperPod.

HyperPod says of no node what it keeps for itself. Its own command line counts with the reserve below when it shares a
node among jobs, and so does this.
"""

from __future__ import annotations

from math import ceil

from trainyard.catalog import InstanceType
from trainyard.core.pools.share import Share
from trainyard.core.pools.spec import NodePool
from trainyard.eks.nodes.daemons import running, total_requests
from trainyard.extensions.hyperpod.groups.launcher import LAUNCHER
from trainyard.extensions.hyperpod.settings.spec import HyperPodSection
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

_SOURCE = "sagemaker-hyperpod 3.12.0, hyperpod/training/quota_allocation_util.py"
_FIRST_CORES = (300, 150, 100, 100)
"""Milli-CPU of each of the first cores; of every other one it is 60."""
_BANDS = ((4, 30), (4, 25), (8, 20), (112, 17))
"""Percent of each next GiB; of the rest it is 7."""


def reserved_cpu(vcpus: int) -> int:
    """Milli-CPU that are not for jobs: a tenth of a CPU for agents, and a part of each core."""
    return 100 + sum(_FIRST_CORES[:vcpus]) + 60 * max(vcpus - len(_FIRST_CORES), 0)


def reserved_memory_mib(memory_mib: int) -> int:
    """MiB that are not for jobs: half a GiB, and a part of each band of memory."""
    left = memory_mib / 1024
    reserved = 0.5
    for size, percent in _BANDS:
        band = min(size, left)
        reserved += band * percent / 100
        left -= band
    return ceil((reserved + left * 0.07) * 1024)


def node_share(context: Context, pool: NodePool, instance: InstanceType, *, efa: bool) -> Share:
    """What HyperPod leaves of a node."""
    instance = instance.booted(HyperPodSection.of(context.spec).own.threads_per_core)
    cpu, memory = reserved_cpu(instance.vcpus), reserved_memory_mib(instance.memory_mib)
    what = "what the kubelet, the system and HyperPod's agents keep"
    context.derive(f"pool/{pool.name}", "share", f"-{cpu}m CPU, -{memory}Mi", what, _SOURCE)
    exporters = [daemon for daemon in running(context, instance) if not daemon.kept]
    if exporters:
        step = total_requests(exporters)
        cpu, memory = cpu + step.cpu_milli, memory + step.memory_mib
        taken = f"-{step.cpu_milli}m CPU, -{step.memory_mib}Mi"
        context.derive(f"pool/{pool.name}", "exporters", taken, step.what, step.source)
    cpu_milli, memory_mib = instance.vcpus * 1000 - cpu, instance.memory_mib - memory
    return Share(
        cpu=cpu_milli // 1000,
        memory=Quantity.gib(memory_mib // 1024),
        accelerators=instance.accelerators,
        resource=instance.accelerator_resource,
        efa=instance.efa_interfaces if efa else 0,
        huge_pages=Quantity(0),
        left=(cpu_milli, memory_mib),
        agents=(0, 0),
        no_huge_pages=LAUNCHER.no_huge_pages,
    )
