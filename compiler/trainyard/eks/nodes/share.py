"""The share of a node that jobs can get: all of it minus the system's reserve, huge pages and DaemonSets."""

from __future__ import annotations

from trainyard.catalog import InstanceType, allocatable
from trainyard.catalog.capacity import huge_pages_mib
from trainyard.core.pools.share import Share
from trainyard.core.pools.sharing import shares_of
from trainyard.core.pools.spec import NodePool
from trainyard.eks.nodes.daemons import daemons, total_requests
from trainyard.eks.nodes.included import included_daemons
from trainyard.eks.nodes.launchers import chosen
from trainyard.language.units import Quantity
from trainyard.plan.context import Context


def node_share(context: Context, pool: NodePool, instance: InstanceType, *, efa: bool) -> Share:
    """What EKS leaves of a node; ``explain`` shows each subtraction."""
    talks = instance.efa_interfaces > 0 and bool(instance.accelerators)
    has_driver = efa or talks
    left = allocatable(instance, huge_pages=has_driver)
    agents = total_requests(
        [*daemons(context, instance), *included_daemons(context, pool, instance)]
    )
    for step in (*left.steps, agents):
        amounts = ", ".join(f"-{amount}" for amount in step.amounts)
        context.derive(f"pool/{pool.name}", "share", amounts, step.what, step.source)
    cpu_milli = left.cpu_milli - agents.cpu_milli
    memory_mib = left.memory_mib - agents.memory_mib
    no_huge_pages = chosen(context.spec, pool).no_huge_pages
    has_pages = has_driver and not no_huge_pages
    pages_mib = huge_pages_mib(instance) if has_pages else 0
    accelerators, resource = instance.accelerators, instance.accelerator_resource
    if pool.gpu_sharing is not None:
        shares = shares_of(pool.gpu_sharing, instance)
        accelerators *= shares.count
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
        no_huge_pages=no_huge_pages,
    )
