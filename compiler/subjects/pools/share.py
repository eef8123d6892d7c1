"""What jobs can get of a node: all of it, less the system's reserve, huge pages and DaemonSets."""

from __future__ import annotations

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
        found = {"cpu": Quantity.of(self.cpu), "memory": self.memory}
        if self.resource:
            found[self.resource] = Quantity.of(self.accelerators)
        if self.efa:
            found[EFA] = Quantity.of(self.efa)
        if self.huge_pages > Quantity(0):
            found[HUGEPAGES] = self.huge_pages
        return found


def share_of(
    context: Context, pool: NodePool, instance: InstanceType, *, efa: bool
) -> Share:
    """What is left of a node; each subtraction is told to ``explain``."""
    loaded = efa or (instance.efa_interfaces > 0 and bool(instance.accelerators))
    left = allocatable(instance, huge_pages=loaded)
    running = taken(daemons(instance))
    target = f"pool/{pool.name}"
    for step in (*left.steps, running):
        context.derive(
            target,
            "share",
            ", ".join(f"-{each}" for each in step.amounts),
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
