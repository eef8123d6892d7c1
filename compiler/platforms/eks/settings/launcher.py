"""The record of a launcher of EKS nodes: everything that the compiler knows of it.

The records are in ``compiler/platforms/eks/nodes/launchers``, one file each. What a record needs only once it
launches something, it imports in its methods: few clusters have more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from compiler.core.pools.launcher import Launcher
from compiler.places import Route
from compiler.plan.units import Duration

if TYPE_CHECKING:
    from compiler.catalog import InstanceType
    from compiler.context import Context
    from compiler.core.jobs.job import Job
    from compiler.core.pools.pools import Pool
    from compiler.core.pools.spec import NodePool
    from compiler.plan.base import PlanNode

ASKED = (
    *("name", "place", "code", "no_commands", "huge_pages", "ages", "disks"),
    *("launches", "refused", "nodes"),
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


class PoolLauncher(Launcher):
    """What launches the nodes of a pool."""

    block_notice = Duration.minutes(40)
    block_source = (
        "EC2 user guide, Capacity Blocks; karpenter v1.14.1, capacityreservation/expiration"
    )
    place: ClassVar[int] = 0
    """When it is asked whether a pool is its own: the first that says so has it."""
    code: ClassVar[str] = ""
    """The code of what it refuses; "" where it refuses nothing."""
    no_commands: ClassVar[NoCommands | None] = None
    """Why its nodes run no commands of ours when they boot, where that is so."""
    huge_pages: ClassVar[bool] = True
    """Whether its nodes keep huge pages for the driver of EFA."""
    uncounted: ClassVar[tuple[str, ...]] = ()
    """Resources that its nodes may have, and nobody says how much: queues have no quota of them."""
    ages: ClassVar[bool] = False
    """Whether its nodes end at an age, even if jobs run on them."""
    disks: ClassVar[str] = ""
    """Who says what becomes of the NVMe disks of its nodes."""
    efa_only: ClassVar[bool] = True
    """Whether interfaces with EFA on other cards than the first are `efa-only`, without addresses."""
    of_ec2: ClassVar[bool] = True
    """Whether its nodes are taken of the account's quotas of EC2."""
    scripts: ClassVar[str] = ""
    """The folder in that of the bootstrap with the scripts that make and remove its nodes, if it has any."""
    bootstrapped: ClassVar[bool] = False
    """Whether the bootstrap makes its nodes, before there is anything in the cluster."""
    protection: ClassVar[Mapping[str, str]] = {"karpenter.sh/do-not-disrupt": "true"}
    """Annotations of pods by which it empties no node under them."""
    instance_labels: ClassVar[bool] = True
    """Whether its nodes have Karpenter's labels of what their instance has."""

    def launches(self, context: Context, pool: NodePool) -> bool:
        """Whether the nodes of a pool of the spec are its own, where no launcher before it says so."""
        raise NotImplementedError

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        """The settings of a pool that it cannot follow."""
        raise NotImplementedError

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanNode]:
        """What it makes of a pool: nodes of the plan."""
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
    launcher = pool.launcher
    if not isinstance(launcher, PoolLauncher):
        raise TypeError(f"`{pool.name}` is no pool of EKS")
    return launcher
