"""What logs take: lines a day, what is kept of them, and the memory of the store that holds the newest."""

from __future__ import annotations

from math import ceil

from trainyard.core.pools.spec import PoolsSection
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.observability.pods import AGENTS, CONTROLLERS
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Duration, Quantity
from trainyard.plan.context import Context

PER_POD = Quantity.mib(100)
"""What a pod of a job writes in a day, where the spec does not say it: set by Trainyard."""
OTHERS = Quantity.mib(10)
"""What a pod that is of no job writes in a day: set by Trainyard."""
BASE_MIB = 512
"""Of Loki's memory, whatever the streams are: set by Trainyard."""
MIB_A_STREAM = 2
"""Of Loki's memory: a chunk that is being filled, 1.5 MiB compressed, and a block of 256 KiB that is not yet (Loki
3.7.6, ingester.chunk-target-size and chunk-block-size)."""
MOST_A_DAY = Quantity.gib(50)
"""What one pod of Loki takes: "up to a few tens of GB/day" (chart loki 18.11.0, values.yaml, deploymentMode)."""
DISK = Quantity.gib(20)
"""Of Loki's volume: its log of what is not yet in S3, and indexes."""
_DAY = 24 * 3600
# In steps, so that two edits that each add a few nodes leave the same text (ADR 0009).
_MEMORY = (1024, 2048, 4096, 8192, 12288)


@dataclass(frozen=True, slots=True)
class Volume:
    """What pods write at most, and what is kept of it: pods of jobs and others, a day's lines, and those of all
    days."""

    working: int
    others: int
    per_pod: Quantity
    a_day: Quantity
    kept: Quantity


def volume(context: Context, given: Quantity | None, retention: Duration) -> Volume:
    """The lines of a cluster with all its nodes, each with a pod of a job. Compressed they are less."""
    per_pod = given or PER_POD
    working = sum(pool.nodes.max for pool in PoolsSection.of(context.spec).node_pools)
    nodes = working
    if ClusterSection.of(context.spec).auto_mode is None:
        nodes += ClusterSection.of(context.spec).eks.system_nodes.nodes
    others = nodes * AGENTS + CONTROLLERS
    a_day = working * per_pod.value + others * OTHERS.value
    days = retention.seconds / _DAY
    return Volume(
        working=working,
        others=others,
        per_pod=per_pod,
        a_day=_whole_gib(a_day),
        kept=_whole_gib(a_day * days),
    )


def _whole_gib(bytes: float) -> Quantity:
    return Quantity.gib(ceil(bytes / 2**30))


def memory(size: Volume) -> int:
    """MiB of Loki: a stream for each pod that writes."""
    needed = BASE_MIB + (size.working + size.others) * MIB_A_STREAM
    return next((step for step in _MEMORY if step >= needed), _MEMORY[-1])


def cpu(memory: int) -> int:
    """Milli-cores of Loki: a core for 8 GiB of memory, and a quarter at least: set by Trainyard."""
    return max(250, memory // 8)
