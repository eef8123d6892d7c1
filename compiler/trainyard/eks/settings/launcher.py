"""The record of a launcher of EKS nodes: everything that the compiler knows of it.

The records are in ``compiler/trainyard/eks/nodes/launchers``, one file each. What a record needs only once it
launches something, it imports in its methods: few clusters have more than one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from trainyard.catalog.prices import on_demand
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.spec import NodePool
from trainyard.language.places import Route
from trainyard.language.units import Duration, Quantity

if TYPE_CHECKING:
    from trainyard.catalog import Catalog, InstanceType
    from trainyard.catalog.prices import Price
    from trainyard.core.jobs.job import Job
    from trainyard.core.pools.pools import Pool
    from trainyard.language.models.cluster import ClusterSpec
    from trainyard.plan import Plan, PlanItem
    from trainyard.plan.context import Context

ASKED = (
    *("name", "place", "key", "code", "no_commands", "no_huge_pages", "ages", "disks"),
    *("part_label", "brings_efa_plugin", "drains_blocks", "made_by"),
    *("launches", "refused", "nodes", "root_volume", "repairs", "most_repaired"),
)
"""What every launcher must set itself. The values of :class:`PoolLauncher` mark what is not set, so that the guards
can name all of it (tests/platforms/test_launchers_of_pools.py)."""


class Refused(NamedTuple):
    """A setting that a launcher cannot follow: its place, what is wrong, what to write instead, and who says so.

    The fact goes on after the name of the pool.
    """

    at: Route
    fact: str
    help: str
    source: str


def some_nodes_always_on(pool: Pool, who: str, source: str) -> Iterator[Refused]:
    """What a launcher refuses that keeps all nodes of a pool or none: a least number of them below the most."""
    nodes = pool.spec.nodes
    if 0 < nodes.min < nodes.max:
        yield Refused(
            pool.at / "nodes" / "min",
            f"has {nodes.min} to {nodes.max} nodes, and {who} keeps a fixed number or scales from 0",
            f"write `nodes: {nodes.max}` to keep all nodes on, or `min: 0` to scale from zero",
            source,
        )


class NoCommands(NamedTuple):
    """Why nodes run no commands of ours when they boot, and what to change where some are needed."""

    why: str
    help: str


class Drainer(NamedTuple):
    """Who drains the nodes of a Capacity Block before its end, and how often it looks for one that ends: ``None`` where
    that is not known."""

    who: str
    every: Duration | None


class Volume(NamedTuple):
    """A volume of a node. ``throughput`` is in MiB/s; ``None`` is what AWS gives."""

    size: Quantity
    iops: int | None = None
    throughput: int | None = None


class Repairs(NamedTuple):
    """Who replaces sick nodes of a pool, and who says so. ``off``: why nobody does.

    ``watches``: it sees by itself which GPUs are sick, and needs no agent of EKS for it. ``overrides``: what it is told
    to do about single reasons, as EKS' ``nodeRepairConfigOverrides``.
    """

    who: str
    source: str
    off: str = ""
    watches: bool = False
    overrides: Sequence[Mapping[str, Any]] = ()


SYSTEM = "system"
"""The node group that eksctl makes with the cluster, for what is no job."""
SICK_SHARE = 20
"""Percent of a NodePool's nodes that may be sick, rounded up; beyond it Karpenter repairs none of them
(kubernetes-sigs/karpenter, pkg/controllers/node/health: allowedUnhealthyPercent)."""


def share_repaired(nodes: int) -> tuple[int, str]:
    """How many nodes of a NodePool may be sick at a time while they are still repaired, and why as many."""
    most = math.ceil(nodes * SICK_SHARE / 100)
    return most, f"Karpenter: {SICK_SHARE}% of {nodes}, rounded up"


class PoolLauncher(Launcher):
    """What launches the nodes of a pool."""

    block_notice = Duration.minutes(40)
    block_source = (
        "EC2 user guide, Capacity Blocks; karpenter v1.14.1, capacityreservation/expiration"
    )
    place: ClassVar[int] = 0
    """When it is asked whether a pool is its own: the first that says so has it."""
    key: ClassVar[str] = ""
    """The key of a pool that asks for it; "" where it has pools that ask for none."""
    code: ClassVar[str] = ""
    """The code of what it refuses; "" where it refuses nothing."""
    no_commands: ClassVar[NoCommands | None] = None
    """Why its nodes run no commands of ours when they boot, where that is so."""
    no_huge_pages: ClassVar[str] = ""
    """Why pods on its nodes ask for no huge pages; "" where the nodes keep some for the driver of EFA."""
    uncounted: ClassVar[tuple[str, ...]] = ()
    """Resources that its nodes may have, and nobody says how much: queues have no quota of them."""
    ages: ClassVar[bool] = False
    """Whether its nodes end at an age, even if jobs run on them."""
    disks: ClassVar[str] = ""
    """Who says what becomes of the NVMe disks of its nodes."""
    part_label: ClassVar[str] = ""
    """The label of its nodes with the name of what they are of: all of their pool, or the part of one reservation."""
    brings_efa_plugin: ClassVar[bool] = False
    """Whether nodes with EFA come with a device plugin for it, beside ours."""
    drains_blocks: ClassVar[Drainer] = Drainer("", None)
    """Who drains its nodes before their Capacity Block ends."""
    efa_only: ClassVar[bool] = True
    """Whether interfaces with EFA on other cards than the first are `efa-only`, without addresses."""
    scripts: ClassVar[str] = ""
    """The folder in that of the bootstrap with the scripts that make and remove its nodes, if it has any."""
    made_by: ClassVar[str] = ""
    """Who starts its nodes, and makes no placement group for them."""
    protection: ClassVar[Mapping[str, str]] = {"karpenter.sh/do-not-disrupt": "true"}
    """Annotations of pods by which it empties no node under them."""
    instance_labels: ClassVar[bool] = True
    """Whether its nodes have Karpenter's labels of what their instance has."""

    def launches(self, spec: ClusterSpec, pool: NodePool) -> bool:
        """Whether the nodes of a pool of the spec are its own, where no launcher before it says so."""
        raise NotImplementedError

    def quota(self, context: Context, pool: Pool) -> tuple[str, str, bool] | None:
        """The quota that counts its nodes one by one, where EC2 does not count them: service, name, and whether it is
        established that it counts those of this pool."""
        return None

    def type_label(self, name: str) -> str:
        """What the label of its nodes calls an instance type of EC2; "" where it has none of it."""
        return name

    def price(self, catalog: Catalog, name: str, region: str) -> Price | None:
        """An hour of a node of an instance type."""
        return on_demand(catalog, name, region)

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        """The settings of a pool that it cannot follow."""
        raise NotImplementedError

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanItem]:
        """What it makes of a pool: items of the plan."""
        raise NotImplementedError

    def root_volume(self, plan: Plan, pool: str) -> Volume | None:
        """The volume of a node of a pool with its images, as the plan has it; ``None`` where it does not say one."""
        raise NotImplementedError

    def repairs(self, plan: Plan, pool: str) -> Repairs:
        """Who replaces sick nodes of a pool, as the plan has it."""
        raise NotImplementedError

    def most_repaired(self, pool: NodePool) -> tuple[int, str]:
        """How many nodes of a pool may be sick at a time while they are still repaired, with all of its nodes there;
        and why as many."""
        raise NotImplementedError

    def interfaces(self, instance: InstanceType) -> int:
        """The network interfaces of a node with EFA."""
        if self.efa_only:
            return len(instance.efa_layout())
        return len(instance.network_cards)

    def efa_addresses(self, instance: InstanceType) -> int:
        """The addresses of interfaces with EFA on other cards than the first."""
        if self.efa_only:
            return 0
        return len(instance.network_cards) - 1

    def check_job(self, context: Context, job: Job) -> None:
        """Report what a job cannot do on its nodes."""


def launcher_of(pool: Pool) -> PoolLauncher:
    """The launcher of a pool of EKS. Raises TypeError for a pool of another platform."""
    return _of_eks(pool.launcher, pool.name)


def launcher_asked(context: Context, pool: NodePool) -> PoolLauncher:
    """The launcher of a pool as the spec has it, where the pool may not be resolved yet. Raises TypeError likewise."""
    return _of_eks(context.answers.launcher(context, pool), pool.name)


def _of_eks(launcher: Launcher, pool: str) -> PoolLauncher:
    if not isinstance(launcher, PoolLauncher):
        raise TypeError(f"`{pool}` is no pool of EKS")
    return launcher
