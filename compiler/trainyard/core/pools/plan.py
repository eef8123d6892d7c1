"""Plan items of pools: what each offers, and what jobs can get of one of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem
from trainyard.plan.scheduling import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    POOL_LABEL,
    ZONE,
    Requirement,
    Taint,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool(PlanItem):
    """Nodes of which jobs get some: of which types, in which zones, and how many at most. Platforms have their own.

    ``requirements`` say types, zones and capacity by the labels of nodes. ``limits`` are totals over all nodes, by
    resource, or of ``nodes``; with ``replicas`` so many are always there. ``type_prefix``: what the platform puts
    before EC2's name of a type, in the labels of its nodes too.
    """

    type_prefix: ClassVar[str] = ""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    limits: Mapping[str, Quantity] = field(default_factory=dict)
    replicas: int | None = None

    @property
    def title(self) -> str:
        """What people call it: a pool of the spec that has several reservations is several of a platform's."""
        return self.labels.get(POOL_LABEL, self.name)

    def values(self, key: str) -> tuple[str, ...] | None:
        """The values that ``In`` requirements (or a label) leave for a key; ``None`` if nothing says so."""
        if key in self.labels:
            return (self.labels[key],)
        left: tuple[str, ...] | None = None
        for requirement in self.requirements:
            if requirement.key != key or requirement.operator != "In":
                continue
            if left is None:
                left = requirement.values
            wanted = requirement.values
            left = tuple(value for value in left if value in wanted)
        return left

    @property
    def instance_types(self) -> tuple[str, ...] | None:
        """The instance types allowed by name; ``None`` where they are chosen by category or not at all."""
        return self.values(INSTANCE_TYPE)

    @property
    def zones(self) -> tuple[str, ...] | None:
        """The zones allowed; ``None`` where every subnet's zone is."""
        return self.values(ZONE)

    @property
    def capacity_types(self) -> tuple[str, ...] | None:
        """on-demand, spot, reserved; ``None`` where the pool does not say."""
        return self.values(CAPACITY_TYPE)


def titles(pools: Iterable[Pool]) -> list[str]:
    """What people call some pools, each once."""
    return list(dict.fromkeys(pool.title for pool in pools))


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPool(Pool):
    """A pool whose types and sizes are listed one by one, as those of node groups and of Slurm's partitions are.

    Its largest size is the limit, ``least`` its smallest size. ``efa``: its nodes have EFA; ``spot``: EC2 may take them
    back; ``block``: they are of a Capacity Block. ``reservations``: the ids of those that they come from.
    ``placement_group``: the name of theirs, and ``placement_strategy`` where it is known. ``subnets``: the ids of those
    of its nodes, where they are not all of the cluster's.
    ``own_kubelet``: what is left of a node for jobs is not known, or all of it is. ``memory_percent``: of its memory as
    EC2 says it, what jobs get at most. ``threads``: those of each core, where that is said.
    ``ami_family``: what eksctl calls the image of its nodes. ``root``: the size of the volume with their system and
    images, where it is said and no NVMe disks have the images; ``beside_images``: of it, what its system takes more
    than one of EKS, and copies of images. ``scratch``: where such disks appear to jobs, if they do.
    """

    beside_images: ClassVar[Quantity] = Quantity(0)

    efa: bool = False
    spot: bool = False
    block: bool = False
    reservations: tuple[str, ...] = ()
    placement_group: str | None = None
    placement_strategy: str | None = None
    subnets: tuple[str, ...] = ()
    least: int | None = None
    own_kubelet: bool = False
    memory_percent: int = 100
    threads: int | None = None
    ami_family: str | None = None
    root: Quantity | None = None
    scratch: str | None = None

    @property
    def capacity_types(self) -> tuple[str, ...] | None:
        """on-demand, spot, reserved; ``None`` where the pool does not say."""
        return ("spot",) if self.spot else self.values(CAPACITY_TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityWindow(PlanItem):
    """When the nodes of a pool's Capacity Block exist: from ``starts`` until ``notice`` seconds before ``ends``.

    Both are seconds since 1970, ``None`` where the spec does not say them.
    """

    carried: ClassVar[bool] = False

    name: str
    starts: int | None
    ends: int | None
    notice: int

    @property
    def closes(self) -> int | None:
        """When its nodes go."""
        if self.ends is None:
            return None
        return self.ends - self.notice

    @property
    def length(self) -> int | None:
        """The seconds for which its nodes exist, where both ends are known."""
        if self.starts is None or self.closes is None:
            return None
        return max(self.closes - self.starts, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShare(PlanItem):
    """What jobs can get of one node of a pool, by resource: all of it, less what DaemonSets take. ``left``: the same
    to the last milli-core and MiB, where a pod that was made before may still fit. ``agents`` are those DaemonSets."""

    carried: ClassVar[bool] = False

    name: str
    resources: Mapping[str, Quantity]
    left: Mapping[str, Quantity] = field(default_factory=dict)
    agents: Mapping[str, Quantity] = field(default_factory=dict)
