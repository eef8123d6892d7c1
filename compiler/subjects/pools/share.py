"""What jobs can get of a node: all of it, less the system's reserve, huge pages and DaemonSets."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from compiler.catalog import InstanceType, allocatable
from compiler.catalog.capacity import huge_pages_mib
from compiler.dataclass import dataclass
from compiler.plan.units import Quantity
from compiler.resolve.context import Context
from compiler.subjects.cluster.spec import ClusterSection
from compiler.subjects.jobs.plan import EFA, HUGEPAGES
from compiler.subjects.pools.daemons import daemons, total
from compiler.subjects.pools.spec import NodePool

ROOT_GIB = {"raid0": 100, "none": 300}


@dataclass(frozen=True, slots=True)
class Share:
    """What jobs can get of one node.

    ``left`` is the same to the last milli-core and MiB, ``agents`` what DaemonSets may take of it.
    """

    cpu: int
    memory: Quantity
    accelerators: int
    resource: str | None
    efa: int
    huge_pages: Quantity
    left: tuple[int, int]
    agents: tuple[int, int]

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


class NodeShare(Protocol):
    """What a platform says that jobs can get of a node: ``Platform.node_share`` names one."""

    def __call__(
        self, context: Context, pool: NodePool, instance: InstanceType, *, efa: bool
    ) -> Share: ...


def share_of(context: Context, pool: NodePool, instance: InstanceType, *, efa: bool) -> Share:
    """What EKS leaves of a node; ``explain`` shows each subtraction."""
    talks = instance.efa_interfaces > 0 and bool(instance.accelerators)
    has_driver = efa or talks
    left = allocatable(instance, huge_pages=has_driver)
    agents = total(daemons(context, instance))
    for step in (*left.steps, agents):
        amounts = ", ".join(f"-{amount}" for amount in step.amounts)
        context.derive(f"pool/{pool.name}", "share", amounts, step.what, step.source)
    cpu_milli = left.cpu_milli - agents.cpu_milli
    memory_mib = left.memory_mib - agents.memory_mib
    auto = ClusterSection.of(context.spec).auto_mode
    has_pages = has_driver and auto is None
    pages_mib = huge_pages_mib(instance) if has_pages else 0
    accelerators, resource = instance.accelerators, instance.accelerator_resource
    if pool.sharing is not None:
        from compiler.subjects.pools.sharing import shares_of

        shares = shares_of(pool.sharing, instance)
        if shares is not None:
            accelerators = accelerators * shares.count
            resource = shares.resource
    return Share(
        cpu=cpu_milli // 1000,
        memory=Quantity.gib(memory_mib // 1024),
        accelerators=accelerators,
        resource=resource,
        efa=instance.efa_interfaces if efa else 0,
        huge_pages=Quantity.mib(pages_mib),
        left=(cpu_milli, memory_mib),
        agents=(agents.cpu_milli, agents.memory_mib),
    )


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
