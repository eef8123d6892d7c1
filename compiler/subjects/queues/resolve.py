"""Queues: quotas in whole nodes, for every resource that a pod asks for."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.dataclass import dataclass
from compiler.plan import PlanNode
from compiler.plan.units import Duration
from compiler.resolve.context import SPEC, Context, unique
from compiler.source import Route
from compiler.subjects.delivery.plan import HealthExpression
from compiler.subjects.delivery.stages import stage
from compiler.subjects.jobs.plan import EPHEMERAL
from compiler.subjects.pools.pools import Pool, resolve_pools
from compiler.subjects.queues import spec as spec_queues
from compiler.subjects.queues.plan import (
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorQuotas,
    LocalQueue,
    Preemption,
    QueueManager,
    Quota,
    ResourceGroup,
    WorkloadPriority,
)
from compiler.subjects.queues.topology import topologies, topology_name

DEFAULT_NAMESPACE = "training"
TRAINING = "trainyard.dev/training"
"""The label of every namespace of a team. A queue that takes all of them names none, and a new one changes it not."""


# No `failed`: a queue is inactive for as long as Kueue has not seen its flavors, which Flux applies in the same
# moment. Flux would give the stage up and try again minutes later. What stays inactive runs into the timeout.
_HEALTH = tuple(
    HealthExpression(
        "kueue.x-k8s.io/v1beta2",
        kind,
        current="has(status.conditions) && status.conditions.exists(c, c.type == 'Active' && c.status == 'True')",
    )
    for kind in ("ClusterQueue", "LocalQueue")
)


def resolve(context: Context) -> Iterator[PlanNode]:
    """Everything that Kueue reads, and the stage that carries it."""
    pools = context.once(resolve_pools)
    queues = context.once(resolve_queues)
    yield from topologies(pools.values())
    for pool in pools.values():
        yield flavor(pool)
    yield from cohorts(context, queues)
    for queue in queues.values():
        yield cluster_queue(context, queue)
    yield from local_queues(queues)
    yield from priorities(context)
    yield context.once(queue_manager)
    yield stage(context, "queues", "platform", health=_HEALTH)


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
        return self.at if self.implicit else self.at / key


def resolve_queues(context: Context) -> dict[str, Queue]:
    """Every queue, by name. Without any in the spec: one queue a pool."""
    pools = context.once(resolve_pools)
    cohorts = _cohorts(context)
    if not context.spec.queues:
        return {pool.name: _implicit(context, pool) for pool in pools.values()}
    at = SPEC / "queues"
    unique(context, "queue", (each.name for each in context.spec.queues), at)
    declared = {each.name: each for each in context.spec.namespaces}
    found: dict[str, Queue] = {}
    for index, queue in enumerate(context.spec.queues):
        here = at / index
        if queue.cohort is not None and context.spec.cohorts:
            context.find("RES014", "cohort", queue.cohort, cohorts, here / "cohort")
        if declared:
            for position, namespace in enumerate(queue.namespaces):
                context.find(
                    "RES013",
                    "namespace",
                    namespace,
                    declared,
                    here / "namespaces" / position,
                )
        unique(
            context,
            f"quota of queue `{queue.name}` in pool",
            (each.pool for each in queue.quota),
            here / "quota",
            key="pool",
        )
        bound = [
            _quota(context, each, pools, here / "quota" / i)
            for i, each in enumerate(queue.quota)
        ]
        found.setdefault(
            queue.name,
            Queue(
                queue.name,
                here,
                tuple(queue.namespaces),
                tuple(each for each in bound if each is not None),
                queue,
            ),
        )
    return found


def _implicit(context: Context, pool: Pool) -> Queue:
    """The queue of a pool. One queue over all pools would be another one with each pool that comes."""
    namespaces = tuple(each.name for each in context.spec.namespaces) or (
        DEFAULT_NAMESPACE,
    )
    spec = spec_queues.Queue.model_construct(
        name=pool.name,
        namespaces=list(namespaces),
        cohort=None,
        strategy="BestEffortFIFO",
        quota=[],
        preemption=spec_queues.Preemption(),
    )
    quota = spec_queues.PoolQuota.model_construct(
        pool=pool.name, nodes=pool.nodes, borrow=None, lend=None
    )
    context.derive(
        f"queue/{pool.name}",
        "quota",
        "all nodes of its pool",
        "the spec declares no queues: each pool has one of its name",
        follows=pool.at,
    )
    return Queue(
        pool.name, pool.at, namespaces, ((pool, quota, pool.at),), spec, implicit=True
    )


def _cohorts(context: Context) -> dict[str, spec_queues.Cohort]:
    at = SPEC / "cohorts"
    unique(context, "cohort", (each.name for each in context.spec.cohorts), at)
    found = {each.name: each for each in context.spec.cohorts}
    for index, cohort in enumerate(context.spec.cohorts):
        if cohort.parent is not None:
            context.find(
                "RES014", "cohort", cohort.parent, found, at / index / "parent"
            )
    return found


def _quota(
    context: Context, quota: spec_queues.PoolQuota, pools: dict[str, Pool], at: Route
) -> tuple[Pool, spec_queues.PoolQuota, Route] | None:
    pool = pools.get(quota.pool)
    if pool is None:
        # A pool that is declared but could not be resolved has its own fault already.
        if quota.pool not in {each.name for each in context.spec.node_pools}:
            context.find("RES011", "pool", quota.pool, pools, at / "pool")
        return None
    return pool, quota, at


def flavor(pool: Pool) -> Flavor:
    """The ResourceFlavor of a pool: its nodes by the label that all of them have, its taints tolerated."""
    return Flavor(
        at=pool.at,
        name=pool.name,
        node_labels=pool.selector,
        node_taints=pool.taints,
        tolerations=pool.tolerations,
        topology=topology_name(pool),
        origins={"node_labels": pool.at / "name", "topology": pool.at / "topology"},
    )


def cluster_queue(context: Context, queue: Queue) -> ClusterQueue:
    """The ClusterQueue of a queue. It covers all that its pools offer, whatever the jobs of today ask."""
    covered: dict[str, None] = {}
    for pool, _, _ in queue.quota:
        covered.update(dict.fromkeys(pool.share.resources()))
    resources = tuple(covered)
    flavors = tuple(
        _flavor_quotas(pool, quota, at, resources, queue)
        for pool, quota, at in queue.quota
    )
    spec = queue.spec
    for pool, quota, _ in queue.quota:
        whole = ", ".join(
            f"{pool.share.of(resource) * quota.nodes} {resource}"
            for resource in resources
        )
        context.derive(
            f"queue/{queue.name}",
            f"quota.{pool.name}",
            whole,
            f"{quota.nodes} whole nodes, for every resource that pods ask: Kueue admits none that it "
            "does not cover",
            "kueue.x-k8s.io/v1beta2 ClusterQueue coveredResources",
        )
    return ClusterQueue(
        at=queue.at,
        name=queue.name,
        cohort=spec.cohort,
        origins={
            "cohort": queue.place("cohort"),
            "groups": queue.place("quota"),
            "namespace_selector": queue.place("namespaces"),
        },
        groups=(
            ResourceGroup(at=queue.place("quota"), covered=resources, flavors=flavors),
        )
        if flavors
        else (),
        namespace_selector=_selector(queue),
        strategy=spec.strategy,
        preemption=Preemption(
            at=queue.place("preemption"),
            within=spec.preemption.within_queue,
            reclaim=spec.preemption.reclaim_from_cohort if spec.cohort else "Never",
        ),
    )


def _selector(queue: Queue) -> dict[str, tuple[str, ...]]:
    if queue.implicit:
        return {TRAINING: ("true",)}
    return {"kubernetes.io/metadata.name": queue.namespaces}


def _flavor_quotas(
    pool: Pool,
    quota: spec_queues.PoolQuota,
    at: Route,
    resources: tuple[str, ...],
    queue: Queue,
) -> FlavorQuotas:
    borrows = queue.spec.cohort is not None

    def of(resource: str) -> Quota:
        each = pool.share.of(resource)
        return Quota(
            at=at,
            resource=resource,
            nominal=each * quota.nodes,
            borrowing=each * quota.borrow
            if borrows and quota.borrow is not None
            else None,
            lending=each * quota.lend if borrows and quota.lend is not None else None,
            origins={
                "nominal": at / "nodes",
                "borrowing": at if queue.implicit else at / "borrow",
                "lending": at if queue.implicit else at / "lend",
            },
        )

    return FlavorQuotas(
        at=at, flavor=pool.name, quotas=tuple(of(resource) for resource in resources)
    )


def cohorts(context: Context, queues: dict[str, Queue]) -> tuple[Cohort, ...]:
    """All cohorts, those that are only named by queues too."""
    at = SPEC / "cohorts"
    found = {
        each.name: Cohort(at=at / index, name=each.name, parent=each.parent)
        for index, each in enumerate(context.spec.cohorts)
    }
    for queue in queues.values():
        if queue.spec.cohort is not None:
            found.setdefault(
                queue.spec.cohort,
                Cohort(at=queue.place("cohort"), name=queue.spec.cohort),
            )
    return tuple(found.values())


def local_queues(queues: dict[str, Queue]) -> tuple[LocalQueue, ...]:
    """A LocalQueue of the queue's name in each of its namespaces."""
    return tuple(
        LocalQueue(
            at=queue.at,
            name=queue.name,
            namespace=namespace,
            cluster_queue=queue.name,
            origins={"namespace": queue.place("namespaces")},
        )
        for queue in queues.values()
        for namespace in queue.namespaces
    )


def priorities(context: Context) -> tuple[WorkloadPriority, ...]:
    """The workload priorities of the spec."""
    at = SPEC / "priorities"
    unique(context, "priority", (each.name for each in context.spec.priorities), at)
    return tuple(
        WorkloadPriority(
            at=at / index,
            name=each.name,
            value=each.value,
            description=each.description,
        )
        for index, each in enumerate(context.spec.priorities)
    )


# A node from nothing: launch, boot, driver, device plugin. Longest seen on bare-metal-sized GPU types.
_PROVISION = Duration.minutes(15)
# A 25 GB training image at 40 MB/s from a registry.
_PULL = Duration.minutes(10)
# A sick node: 10 minutes until Karpenter repairs it (RepairPolicies, v1.14.1), then as above.
_REPAIR = Duration.minutes(10)
RECOVERY = Duration(_REPAIR.seconds + _PROVISION.seconds + _PULL.seconds)
_REQUEUES = 10


def queue_manager(context: Context) -> QueueManager:
    """Kueue's configuration. waitForPodsReady is on by default since 0.19, with 30 minutes: always said here."""
    at = SPEC / "kueue" / "waitForPodsReady"
    # Nodes that are always on are provisioned too: at the start, and whenever one is replaced.
    ready = context.settle(
        "kueue",
        "waitForPodsReady",
        context.spec.kueue.wait_for_pods_ready,
        Duration(_PROVISION.seconds + _PULL.seconds + 300),
        f"provisioning {_PROVISION}, image pull {_PULL}, 5m of slack",
        _WAITS + "timeout",
        at=at,
    )
    recovery = Duration(max(ready.seconds, RECOVERY.seconds))
    context.derive(
        "kueue",
        "recoveryTimeout",
        recovery,
        f"repair of a node {_REPAIR}, provisioning {_PROVISION}, image pull {_PULL}",
        _WAITS + "recoveryTimeout",
    )
    context.derive(
        "kueue",
        "requeuingStrategy.backoffLimitCount",
        _REQUEUES,
        "a job whose nodes or image never come asks no more after some ten hours; `kubectl patch workload "
        'NAME --type=merge -p \'{"spec": {"active": true}}\'` has it ask again',
        _WAITS + "requeuingStrategy",
    )
    return QueueManager(
        at=at,
        pods_ready=ready,
        recovery=recovery,
        requeue_backoff=Duration(60),
        requeue_limit=_REQUEUES,
        frameworks=(
            "batch/job",
            "jobset.x-k8s.io/jobset",
            "trainer.kubeflow.org/trainjob",
        ),
        # What a node has of it depends on its disks, not on its type: LIM004 holds each job against its node.
        excluded_prefixes=(EPHEMERAL,),
    )


_WAITS = "config.kueue.x-k8s.io/v1beta2 Configuration waitForPodsReady."
