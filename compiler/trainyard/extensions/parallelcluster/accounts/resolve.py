"""Queues: quotas by partition, and with accounting accounts and qualities of service."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.pools import Pool
from trainyard.core.queues import spec as spec_queues
from trainyard.core.queues.plan import FlavorQuotas, Quota, ResourceGroup
from trainyard.core.queues.queues import Queue, resolve_queues
from trainyard.core.queues.spec import QueuesSection
from trainyard.extensions.parallelcluster.accounts.accounts import account_of
from trainyard.extensions.parallelcluster.accounts.plan import Account, Qos, SlurmQueue
from trainyard.extensions.parallelcluster.partitions.partitions import partition_of
from trainyard.extensions.parallelcluster.settings.spec import ClusterSection
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context, unique_names

_SOURCE = "Slurm documentation, resource_limits.html: GrpTRES"


def resolve(context: Context) -> Iterator[PlanItem]:
    """Each queue; with accounting its accounts, and the priorities."""
    queues = context.once(resolve_queues)
    _check_totals(context)
    declared = QueuesSection.of(context.spec).priorities
    unique_names(context, "priority", (priority.name for priority in declared), SPEC / "priorities")
    for queue in queues.values():
        yield _queue(context, queue)
    if ClusterSection.of(context.spec).own.accounting is None:
        return
    yield from _priorities(context)
    for queue in queues.values():
        for pool, quota, at in queue.quota:
            yield _account(context, queue, pool, quota, at)


def _check_totals(context: Context) -> None:
    """Partitions have nodes of their own: their sum is no more than the pool has."""
    granted: dict[str, int] = {}
    for queue in context.once(resolve_queues).values():
        for pool, quota, at in queue.quota:
            total = granted.get(pool.name, 0) + quota.nodes
            granted[pool.name] = total
            if total > pool.nodes >= total - quota.nodes:
                context.fault(
                    "RES305",
                    f"the queues have {total} nodes of pool `{pool.name}`, which has {pool.nodes}",
                    at / "nodes",
                    f"write `{max(pool.nodes - total + quota.nodes, 0)}` at most, or raise `nodes` of the pool",
                    source="aws-parallelcluster 3.16.1, CapacityReservationSizeValidator",
                )


def _queue(context: Context, queue: Queue) -> SlurmQueue:
    flavors = []
    covered: dict[str, None] = {}
    for pool, quota, at in queue.quota:
        of_node = pool.share.resources()
        covered |= dict.fromkeys(of_node)
        quotas = tuple(_quota(name, each, quota, at) for name, each in of_node.items())
        flavor = partition_of(context, pool, queue)
        flavors.append(FlavorQuotas(at=at, flavor=flavor, quotas=quotas))
    groups: tuple[ResourceGroup, ...] = ()
    if flavors:
        groups = (ResourceGroup(at=queue.at, covered=tuple(covered), flavors=tuple(flavors)),)
    return SlurmQueue(at=queue.at, name=queue.name, cohort=queue.spec.cohort, groups=groups)


def _quota(resource: str, each: Quantity, quota: spec_queues.PoolQuota, at: Route) -> Quota:
    """So many whole nodes of a pool, in one of their resources."""
    return Quota(
        at=at,
        resource=resource,
        nominal=Quantity(each.milli * quota.nodes),
        borrowing=_times(each, quota.borrowing_limit),
        lending=_times(each, quota.lending_limit),
        origins={"nominal": at / "nodes", "borrowing": at / "borrowingLimit"},
    )


def _times(each: Quantity, nodes: int | None) -> Quantity | None:
    if nodes is None:
        return None
    return Quantity(each.milli * nodes)


def _priorities(context: Context) -> Iterator[Qos]:
    for index, priority in enumerate(QueuesSection.of(context.spec).priorities):
        at = SPEC / "priorities" / index
        if priority.value < 0:
            context.fault(
                "RES311",
                f"priority `{priority.name}` has the value {priority.value}, and Slurm's begin at 0",
                at / "value",
                "write 0 or more; a job without a priority has 0",
                source="Slurm documentation, sacctmgr: Priority of a QOS",
            )
            continue
        yield Qos(
            at=at, name=priority.name, priority=priority.value, description=priority.description
        )


def _account(
    context: Context, queue: Queue, pool: Pool, quota: spec_queues.PoolQuota, at: Route
) -> Account:
    name = account_of(context, queue, pool) or queue.name
    most: int | None = quota.nodes
    why = "the nodes of its queue and no more: it is in no cohort"
    if queue.spec.cohort is not None:
        most = None
        why = "no limit: it borrows what is free in its cohort"
        if quota.borrowing_limit is not None:
            most = quota.nodes + quota.borrowing_limit
            why = "its own nodes, and those that it may borrow"
    context.derive(
        f"queue/{queue.name}",
        f"account.{name}",
        "unlimited" if most is None else f"{most} nodes",
        why,
        _SOURCE,
    )
    return Account(at=at, name=name, queue=queue.name, share=max(quota.nodes, 1), most=most)
