"""What Prometheus needs: the series of the cluster, and from them memory, CPU and disk.

Each metric of the catalog says of what there is one series; the spec says how many of those there are at most. Nodes
count at their most: a series that is gone stays in memory for up to three hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import ceil

from trainyard.catalog import InstanceType
from trainyard.core.jobs.spec import JobsSection
from trainyard.core.pools.spec import PoolsSection
from trainyard.core.queues.spec import QueuesSection
from trainyard.core.storage.spec import StorageSection
from trainyard.eks.settings.spec import ClusterSection
from trainyard.extensions.observability.logs import names as logged
from trainyard.extensions.observability.monitoring.names import is_managed, readers
from trainyard.extensions.observability.monitoring.saving import saving
from trainyard.extensions.observability.monitoring.spec import Monitoring
from trainyard.extensions.observability.pods import AGENTS, CONTROLLERS
from trainyard.extensions.observability.released_exporters import Metric, exporters, of
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

_DEPLOYMENTS, _FLUX, _WEBHOOKS, _TARGETS = 30, 40, 20, 20
"""At most, of a cluster with all add-ons: Deployments, objects of Flux, webhooks, and targets beside those of nodes."""

CHURN = 1.5
"""Pods that come and go: their series stay in memory for up to three hours (Prometheus, storage, head block)."""
BYTES_A_SERIES = 8192
"""Of memory. Measured 2026-11-25 with Prometheus 2.42.0 (Debian 2.42.0+ds-5): between 20,436 and 100,836 series of
seven labels, the heap at which Go collects garbage (go_memstats_next_gc_bytes) grew by 5,510 bytes a series, and what
is resident by 3,257. Half as much again is left for queries, rules and what a restart reads back."""
BASE_MIB = 400
"""Of memory, whatever the series are: the same measurement leaves some 40 MiB, the rest is set by Trainyard."""
BYTES_A_SAMPLE = 2
"""Of disk: "1-2 bytes per sample" (Prometheus, storage, operational aspects)."""
SPARE = 1.2
"""Blocks that straddle the retention, and compaction."""
ALERTMANAGER_DISK = Quantity.gib(2)
"""Of Alertmanager's volume, which holds silences and what was sent: set by Trainyard."""
_GIB, _MIB = 1024**3, 1024**2


@dataclass(frozen=True, slots=True)
class Size:
    """What Prometheus needs: series by exporter, memory, CPU in milli-cores, and disk. ``reasons``: what the series of
    each exporter are the sum of."""

    series: Mapping[str, int]
    reasons: Mapping[str, str]
    memory: Quantity
    cpu: int
    disk: Quantity

    @property
    def total(self) -> int:
        """All series together."""
        return sum(self.series.values())


def size(context: Context, monitoring: Monitoring) -> Size:
    """What a spec's Prometheus needs at most, in steps. The disk may be more than a volume of EBS can have."""
    units = counts(context)
    scraped = {name: tuple(of(name, readers=readers(context))) for name in exporters()}
    series = {name: _series(metrics, units) for name, metrics in scraped.items()}
    total = sum(series.values())
    memory = _step(BASE_MIB + total * CHURN * BYTES_A_SERIES / _MIB, _MEMORY)
    samples = total / monitoring.interval.seconds * monitoring.retention.seconds
    return Size(
        series=series,
        reasons={name: _reason(metrics, units) for name, metrics in scraped.items()},
        memory=Quantity.mib(memory),
        # A core for 8 GiB of memory, and a fifth of one at least: set by Trainyard.
        cpu=max(200, memory // 8),
        disk=Quantity.gib(_step(samples * BYTES_A_SAMPLE * SPARE / _GIB, _DISKS)),
    )


# In steps, so that two edits that each add a few nodes leave the same text (ADR 0009).
_MEMORY = (1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 65536, 98304)
_DISKS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 16384)


def _step(needed: float, steps: tuple[int, ...]) -> int:
    return next((step for step in steps if step >= needed), ceil(needed))


def series_for(memory: Quantity) -> int:
    """How many series a memory is enough for, in thousands."""
    spare = memory.value - BASE_MIB * _MIB
    return int(spare / BYTES_A_SERIES / 1000) * 1000


def _series(metrics: Iterable[Metric], units: Mapping[str, int]) -> int:
    return sum(metric.times * units[metric.per] for metric in metrics)


def _reason(metrics: Iterable[Metric], units: Mapping[str, int]) -> str:
    """The series of an exporter by what there is one of: so many each, the most first."""
    each: Counter[str] = Counter()
    for metric in metrics:
        each[metric.per] += metric.times
    parts = sorted(each, key=lambda unit: -each[unit] * units[unit])
    shown = [f"{each[unit]:,} × {units[unit]:,} ({unit})" for unit in parts if units[unit]]
    return " + ".join(shown)


def counts(context: Context) -> dict[str, int]:
    """How many there are at most of all that a metric may have a series of."""
    spec = context.spec
    nodes = list(_nodes(context))
    number = sum(count for _, count in nodes)
    working = sum(pool.nodes.max for pool in PoolsSection.of(spec).node_pools)
    pods = number * AGENTS + working + CONTROLLERS
    queues = QueuesSection.of(spec).queues
    jobs = JobsSection.of(spec).jobs
    efa = sum(instance.efa_interfaces * count for instance, count in nodes)
    return {
        "one": 1,
        "node": number,
        "collector": number if logged.is_wanted(context) else 0,
        "sender": 1 if is_managed(context) else 0,
        "cpu": sum(instance.vcpus * count for instance, count in nodes),
        "gpu": sum(instance.gpus * count for instance, count in nodes),
        "efa": efa,
        # an interface of the host for each pod, as the VPC CNI makes them, and those of EFA
        "interface": number * (AGENTS + 3) + efa,
        "pod": pods,
        "container": ceil(pods * 1.2),
        "waiting": working,
        # pods of jobs: controllers and agents have no limit of CPU
        "working": working,
        "queue": len(queues),
        "flavor": sum(len(queue.quota) for queue in queues),
        "claim": 2 + len(StorageSection.of(spec).storage) * max(1, len(queues)),
        "job": len(jobs),
        "saving": len(list(saving(context))),
        "pool": len(PoolsSection.of(spec).node_pools),
        "deployment": _DEPLOYMENTS,
        "flux": _FLUX,
        "controller": CONTROLLERS,
        "webhook": _WEBHOOKS,
        "target": number * 5 + _TARGETS,
    }


def _nodes(context: Context) -> list[tuple[InstanceType, int]]:
    """The nodes at most, of each pool by the type with the most CPUs, and the system's."""
    found: list[tuple[InstanceType, int]] = []
    for pool in PoolsSection.of(context.spec).node_pools:
        known = [context.catalog.instance(name) for name in pool.instance_types]
        types = [instance for instance in known if instance is not None]
        if types:
            largest = max(types, key=lambda instance: (instance.gpus, instance.vcpus))
            found.append((largest, pool.nodes.max))
    if ClusterSection.of(context.spec).auto_mode is None:
        system = ClusterSection.of(context.spec).eks.system_nodes
        instance = context.catalog.instance(system.instance_type)
        if instance is not None:
            found.append((instance, system.nodes))
    return found
