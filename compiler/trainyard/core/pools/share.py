"""The share of a node that jobs can get, as the platform computes it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from trainyard.catalog import InstanceType
from trainyard.core.pods.plan import EFA, HUGEPAGES
from trainyard.core.pools.plan import NodeShare as PlannedShare
from trainyard.core.pools.spec import NodePool
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

ROOT_GIB = {"raid0": 100, "none": 300}


@dataclass(frozen=True, slots=True)
class Share:
    """What jobs can get of one node.

    ``left`` is the same to the last milli-core and MiB, ``agents`` what DaemonSets may take of it. ``no_huge_pages``:
    why a job asks for none where there are none.
    """

    cpu: int
    memory: Quantity
    accelerators: int
    resource: str | None
    efa: int
    huge_pages: Quantity
    left: tuple[int, int]
    agents: tuple[int, int]
    no_huge_pages: str = ""

    def of(self, resource: str) -> Quantity:
        """So much of a resource."""
        return self.resources().get(resource, Quantity(0))

    def resources(self) -> dict[str, Quantity]:
        """By resource name, whole cores and GiB."""
        amounts = {"cpu": Quantity.of(self.cpu), "memory": self.memory}
        if self.resource:
            amounts[self.resource] = Quantity.of(self.accelerators)
        if self.efa:
            amounts[EFA] = Quantity.of(self.efa)
        if self.huge_pages > Quantity(0):
            amounts[HUGEPAGES] = self.huge_pages
        return amounts

    def planned(self, pool: str) -> PlannedShare:
        """The item of the plan that says so of a pool."""
        return PlannedShare(
            name=pool,
            resources=self.resources(),
            left=_amounts(self.left),
            agents=_amounts(self.agents),
        )


def _amounts(of: tuple[int, int]) -> dict[str, Quantity]:
    """Milli-cores and MiB, by resource name."""
    cpu_milli, memory_mib = of
    return {"cpu": Quantity(cpu_milli), "memory": Quantity.mib(memory_mib)}


class NodeShare(Protocol):
    """What a platform says that jobs can get of a node: its answers have one."""

    def __call__(
        self, context: Context, pool: NodePool, instance: InstanceType, *, efa: bool
    ) -> Share: ...


def smallest(one: Share, other: Share) -> Share:
    """What jobs can get of nodes of either of two types, which have as many accelerators."""
    cpu_left, memory_left = map(min, one.left, other.left)
    cpu_agents, memory_agents = map(max, one.agents, other.agents)
    return replace(
        one,
        cpu=min(one.cpu, other.cpu),
        memory=min(one.memory, other.memory),
        huge_pages=min(one.huge_pages, other.huge_pages),
        left=(cpu_left, memory_left),
        agents=(cpu_agents, memory_agents),
    )
