"""What jobs can get of a node: all of it, less the system's reserve, huge pages and DaemonSets."""

from __future__ import annotations

from dataclasses import replace

from compiler.catalog import InstanceType, allocatable
from compiler.catalog.capacity import huge_pages_mib
from compiler.dataclass import dataclass
from compiler.plan.units import Quantity
from compiler.resolve.context import Context
from compiler.subjects.jobs.plan import EFA, HUGEPAGES
from compiler.subjects.pools.daemons import daemons, taken
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


def share_of(
    context: Context, pool: NodePool, instance: InstanceType, *, efa: bool
) -> Share:
    """What is left of a node; each subtraction is told to ``explain``."""
    loaded = efa or (instance.efa_interfaces > 0 and bool(instance.accelerators))
    left = allocatable(instance, huge_pages=loaded)
    running = taken(daemons(context, instance))
    target = f"pool/{pool.name}"
    for step in (*left.steps, running):
        context.derive(
            target,
            "share",
            ", ".join(f"-{amount}" for amount in step.amounts),
            step.what,
            step.source,
        )
    cpu, memory = (
        left.cpu_milli - running.cpu_milli,
        left.memory_mib - running.memory_mib,
    )
    return Share(
        cpu=cpu // 1000,
        memory=Quantity.gib(memory // 1024),
        accelerators=instance.accelerators,
        resource=instance.accelerator_resource,
        efa=instance.efa_interfaces if efa else 0,
        huge_pages=Quantity.mib(huge_pages_mib(instance) if loaded else 0),
        left=(cpu, memory),
        agents=(running.cpu_milli, running.memory_mib),
    )


def smallest(shares: list[Share]) -> Share:
    """What jobs can get of any node: the least of several types, which have as many accelerators."""
    first = shares[0]
    if len(shares) == 1:
        return first
    return replace(
        first,
        cpu=min(share.cpu for share in shares),
        memory=min(share.memory for share in shares),
        huge_pages=min(share.huge_pages for share in shares),
        left=(
            min(share.left[0] for share in shares),
            min(share.left[1] for share in shares),
        ),
        agents=(
            max(share.agents[0] for share in shares),
            max(share.agents[1] for share in shares),
        ),
    )
