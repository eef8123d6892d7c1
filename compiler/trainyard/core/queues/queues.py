"""Resolves queues: each bound to its pools, with its quota of each in whole nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.core.pools.spec import PoolsSection
from trainyard.core.queues import spec as spec_queues
from trainyard.core.queues.spec import QueuesSection
from trainyard.core.teams.spec import NamespacesSection
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, unique_names

DEFAULT_NAMESPACE = "training"


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue with its pools bound; ``quota`` pairs each pool with its share."""

    name: str
    at: Route
    namespaces: tuple[str, ...]
    quota: tuple[tuple[Pool, spec_queues.PoolQuota, Route], ...]
    spec: spec_queues.Queue
    implicit: bool = False

    def place(self, key: str) -> Route:
        """The place of a key; of a queue that is made for a pool, the pool."""
        if self.implicit:
            return self.at
        return self.at / key


def resolve_queues(context: Context) -> dict[str, Queue]:
    """Every queue, by name. Without any in the spec: one queue a pool."""
    pools = context.once(resolve_pools)
    _check_cohorts(context)
    declared = QueuesSection.of(context.spec).queues
    if not declared:
        of_pools = pools.values()
        return {pool.name: _implicit(context, pool) for pool in of_pools}
    at = SPEC / "queues"
    names = (queue.name for queue in declared)
    unique_names(context, "queue", names, at)
    queues: dict[str, Queue] = {}
    for index, spec in enumerate(declared):
        here = at / index
        _check_references(context, spec, here)
        quota = _quota(context, spec, pools, here / "quota")
        queue = Queue(spec.name, here, tuple(spec.namespaces), quota, spec)
        queues.setdefault(spec.name, queue)
    _check_spares(context, queues.values())
    return queues


def _check_spares(context: Context, queues: Iterable[Queue]) -> None:
    """Quotas leave the spare nodes of a pool alone."""
    granted: Counter[str] = Counter()
    for queue in queues:
        for pool, quota, at in queue.quota:
            granted[pool.name] += quota.nodes
            spare = pool.spec.spare_nodes
            total = granted[pool.name]
            if spare and total > pool.shared_nodes:
                context.fault(
                    "RES160",
                    f"the queues have {total} nodes of pool `{pool.name}`, "
                    f"which has {pool.nodes}, {spare} of them "
                    "spare",
                    at / "nodes",
                    f"grant {pool.shared_nodes} in all, or change `spareNodes` of the pool",
                )


def _check_references(context: Context, queue: spec_queues.Queue, at: Route) -> None:
    """The cohort and the namespaces that a queue names are declared, where the spec declares any."""
    declared = QueuesSection.of(context.spec).cohorts
    cohorts = {cohort.name: cohort for cohort in declared}
    if queue.cohort is not None and cohorts:
        context.find("RES014", "cohort", queue.cohort, cohorts, at / "cohort")
    declared_namespaces = NamespacesSection.of(context.spec).namespaces
    namespaces = {namespace.name: namespace for namespace in declared_namespaces}
    if namespaces:
        for index, name in enumerate(queue.namespaces):
            place = at / "namespaces" / index
            context.find("RES013", "namespace", name, namespaces, place)


def _implicit(context: Context, pool: Pool) -> Queue:
    """The queue of a pool. One queue over all pools would be another one with each pool that comes."""
    declared = NamespacesSection.of(context.spec).namespaces
    names = [namespace.name for namespace in declared]
    namespaces = names or [DEFAULT_NAMESPACE]
    spec = spec_queues.Queue.model_construct(
        name=pool.name,
        namespaces=namespaces,
        cohort=None,
        queueing_strategy="BestEffortFIFO",
        quota=[],
        preemption=spec_queues.Preemption(),
        fair_sharing=None,
        flavor_fungibility=None,
        stop_policy="None",
    )
    quota = spec_queues.PoolQuota.model_construct(
        pool=pool.name, nodes=pool.shared_nodes, borrowing_limit=None, lending_limit=None
    )
    but = ""
    if pool.spec.spare_nodes:
        but = f" but {pool.spec.spare_nodes} spare"
    context.derive(
        f"queue/{pool.name}",
        "quota",
        f"all nodes of its pool{but}",
        "the spec declares no queues: each pool has one of its name",
        follows=pool.at,
    )
    return Queue(
        name=pool.name,
        at=pool.at,
        namespaces=tuple(namespaces),
        quota=((pool, quota, pool.at),),
        spec=spec,
        implicit=True,
    )


def _check_cohorts(context: Context) -> None:
    """Cohorts have different names, and the parents that they name are declared."""
    at = SPEC / "cohorts"
    cohorts = QueuesSection.of(context.spec).cohorts
    names = (cohort.name for cohort in cohorts)
    unique_names(context, "cohort", names, at)
    known = {cohort.name: cohort for cohort in cohorts}
    for index, cohort in enumerate(cohorts):
        if cohort.parent_name is not None:
            place = at / index / "parentName"
            context.find("RES014", "cohort", cohort.parent_name, known, place)


def _quota(
    context: Context, queue: spec_queues.Queue, pools: dict[str, Pool], at: Route
) -> tuple[tuple[Pool, spec_queues.PoolQuota, Route], ...]:
    """The quotas of a queue that name a pool which could be resolved."""
    what = f"quota of queue `{queue.name}` in pool"
    unique_names(context, what, (quota.pool for quota in queue.quota), at, key="pool")
    node_pools = PoolsSection.of(context.spec).node_pools
    declared = {pool.name for pool in node_pools}
    bound = []
    for index, quota in enumerate(queue.quota):
        here = at / index
        pool = pools.get(quota.pool)
        if pool is not None:
            bound.append((pool, quota, here))
        elif quota.pool not in declared:  # else the pool has its own fault already
            context.find("RES011", "pool", quota.pool, pools, here / "pool")
    return tuple(bound)
