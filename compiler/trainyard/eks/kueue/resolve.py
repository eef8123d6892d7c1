"""Queues: quotas in whole nodes, for every resource that a pod asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainyard.core.pods.plan import EPHEMERAL
from trainyard.core.pools.pools import DIAGNOSTICS, Pool, resolve_pools
from trainyard.core.pools.topology import levels, topology_name
from trainyard.core.pools.waits import PROVISION, PULL, RECOVERY, REPAIR
from trainyard.core.queues import spec as spec_queues
from trainyard.core.queues.plan import FlavorQuotas, Quota, ResourceGroup
from trainyard.core.queues.queues import Queue, resolve_queues
from trainyard.core.queues.spec import FairSharing, QueuesSection, Weight
from trainyard.eks.flux.accounts import deliverer, may_make
from trainyard.eks.flux.stages import stage
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.jobs.origins import QUEUE
from trainyard.eks.jobs.wanted import used
from trainyard.eks.kueue.evictions import evictions
from trainyard.eks.kueue.plan import (
    GATES,
    INTEGRATIONS,
    ClusterQueue,
    Cohort,
    Flavor,
    FlavorFungibility,
    LocalQueue,
    Preemption,
    QueueManager,
    Topology,
    WorkloadPriority,
    integration_of,
)
from trainyard.eks.settings.launcher import launcher_of
from trainyard.language.places import Route
from trainyard.language.units import Duration, Quantity
from trainyard.output import body
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context, unique_names

# Kueue's Topologies: one for each way in which pools place gangs.


def topologies(pools: Iterable[Pool]) -> Iterator[Topology]:
    """Each topology that some pool has, its levels widest first, down to the host."""
    names = {topology_name(pool) for pool in pools}
    for name in sorted(name for name in names if name is not None):
        yield Topology(at=SPEC / "nodePools", name=name, levels=levels(name))


TRAINING = "trainyard.dev/training"
"""The label of every namespace of a team. A queue that takes all of them names none, and a new one changes it not."""


# No `failed`: a queue is inactive for as long as Kueue has not seen its flavors, which Flux applies in the same
# moment. Flux would give the stage up and try again minutes later. What stays inactive runs into the timeout.


def resolve(context: Context) -> Iterator[PlanItem]:
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
    # Jobs come after it, and wait in their queue until that is active: one that is not, or is Terminating, is no matter
    # of other teams.
    yield stage(context, _STAGE, "platform", account=_STAGE, wait=False)
    yield from deliverer(_STAGE, *_RIGHTS)


_STAGE = "queues"
_RIGHTS = (
    may_make(
        "kueue.x-k8s.io",
        "clusterqueues",
        "cohorts",
        "localqueues",
        "resourceflavors",
        "topologies",
        "workloadpriorityclasses",
    ),
    may_make("trainer.kubeflow.org", "clustertrainingruntimes"),
)


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
    """The ClusterQueue of a queue. It covers all resources that its pools offer, not only those of today's jobs."""
    covered: dict[str, None] = {}
    for pool, _, _ in queue.quota:
        covered.update(dict.fromkeys(pool.share.resources()))
    resources = tuple(covered)
    flavors = tuple(
        _flavor_quotas(pool, quota, at, resources, queue) for pool, quota, at in queue.quota
    )
    _explain_quota(context, queue, resources)
    spec = queue.spec
    groups: tuple[ResourceGroup, ...] = ()
    if flavors:
        at = queue.place("quota")
        groups = (ResourceGroup(at=at, covered=resources, flavors=flavors),)
    return ClusterQueue(
        at=queue.at,
        name=queue.name,
        cohort=spec.cohort,
        origins={
            "cohort": queue.place("cohort"),
            "groups": queue.place("quota"),
            "namespace_selector": queue.place("namespaces"),
            "strategy": queue.place("queueingStrategy"),
            "preemption": queue.place("preemption"),
            "fungibility": queue.place("flavorFungibility"),
            "weight": queue.place("fairSharing"),
            "stop_policy": queue.place("stopPolicy"),
        },
        groups=groups,
        namespace_selector=_selector(queue),
        strategy=spec.queueing_strategy,
        preemption=_preemption(queue),
        fungibility=_fungibility(queue),
        weight=_weight(spec.fair_sharing),
        stop_policy=spec.stop_policy,
    )


def _explain_quota(context: Context, queue: Queue, resources: tuple[str, ...]) -> None:
    for pool, quota, _ in queue.quota:
        amounts = []
        for resource in resources:
            amount = pool.share.of(resource) * quota.nodes
            amounts.append(f"{amount} {resource}")
        context.derive(
            f"queue/{queue.name}",
            f"quota.{pool.name}",
            ", ".join(amounts),
            f"{quota.nodes} whole nodes, for every resource that pods ask: Kueue admits none that it "
            "does not cover",
            "kueue.x-k8s.io/v1beta2 ClusterQueue coveredResources",
        )


def _preemption(queue: Queue) -> Preemption:
    given = queue.spec.preemption
    preemption = Preemption(
        at=queue.place("preemption"),
        within=given.within_cluster_queue,
        reclaim=given.reclaim_within_cohort if queue.spec.cohort else "Never",
    )
    borrowing = given.borrow_within_cohort
    if borrowing is None:
        return preemption
    return replace(
        preemption,
        borrow_within_cohort=borrowing.policy,
        max_priority_threshold=borrowing.max_priority_threshold,
    )


def _fungibility(queue: Queue) -> FlavorFungibility | None:
    given = queue.spec.flavor_fungibility
    if given is None:
        return None
    return FlavorFungibility(
        at=queue.place("flavorFungibility"),
        when_can_borrow=given.when_can_borrow,
        when_can_preempt=given.when_can_preempt,
        preference=given.preference,
    )


def _weight(given: Weight | None) -> Quantity | None:
    if given is not None:
        return given.weight
    return None


def _selector(queue: Queue) -> dict[str, tuple[str, ...]]:
    if queue.implicit:
        return {TRAINING: ("true",)}
    return {"kubernetes.io/metadata.name": queue.namespaces}


def _flavor_quotas(
    pool: Pool, quota: spec_queues.PoolQuota, at: Route, resources: tuple[str, ...], queue: Queue
) -> FlavorQuotas:
    borrowing_limit, lending_limit = quota.borrowing_limit, quota.lending_limit
    if queue.spec.cohort is None:
        borrowing_limit, lending_limit = None, None
    origins = {
        "nominal": at / "nodes",
        "borrowing": at / "borrowingLimit",
        "lending": at / "lendingLimit",
    }
    if queue.implicit:
        origins.update(borrowing=at, lending=at)
    quotas = []
    for resource in resources:
        per_node = pool.share.of(resource)
        quotas.append(
            Quota(
                at=at,
                resource=resource,
                nominal=per_node * quota.nodes,
                borrowing=_limit(per_node, borrowing_limit),
                lending=_limit(per_node, lending_limit),
                origins=origins,
            )
        )
    return FlavorQuotas(at=at, flavor=pool.name, quotas=tuple(quotas))


def _limit(per_node: Quantity, nodes: int | None) -> Quantity | None:
    if nodes is None:
        return None
    return per_node * nodes


def cohorts(context: Context, queues: dict[str, Queue]) -> tuple[Cohort, ...]:
    """All cohorts, also those that only queues name."""
    cohorts: dict[str, Cohort] = {}
    declared = QueuesSection.of(context.spec).cohorts
    for index, spec in enumerate(declared):
        at = SPEC / "cohorts" / index
        cohorts[spec.name] = Cohort(
            at=at,
            name=spec.name,
            parent=spec.parent_name,
            weight=_weight(spec.fair_sharing),
            origins={"parent": at / "parentName", "weight": at / "fairSharing"},
        )
    for queue in queues.values():
        name = queue.spec.cohort
        if name is not None:
            named = Cohort(at=queue.place("cohort"), name=name)
            cohorts.setdefault(name, named)
    return tuple(cohorts.values())


def local_queues(queues: dict[str, Queue]) -> Iterator[LocalQueue]:
    """A LocalQueue of the queue's name in each of its namespaces."""
    for queue in queues.values():
        for namespace in queue.namespaces:
            yield LocalQueue(
                at=queue.at,
                name=queue.name,
                namespace=namespace,
                cluster_queue=queue.name,
                origins={"namespace": queue.place("namespaces")},
            )


def priorities(context: Context) -> Iterator[WorkloadPriority]:
    """The workload priorities of the spec."""
    at = SPEC / "priorities"
    declared = QueuesSection.of(context.spec).priorities
    names = (priority.name for priority in declared)
    unique_names(context, "priority", names, at)
    for index, priority in enumerate(declared):
        yield WorkloadPriority(
            at=at / index,
            name=priority.name,
            value=priority.value,
            description=priority.description,
        )


def _slowest_diagnostics(context: Context) -> Duration:
    """How long a new node is tested by DCGM before any job lands on it; 0 where no pool asks for that."""
    levels = [0]
    for pool in context.once(resolve_pools).values():
        test = pool.spec.burn_in
        if test is not None and test.diagnostics is not None:
            levels.append(test.diagnostics.level)
    return DIAGNOSTICS[max(levels)]


def queue_manager(context: Context) -> QueueManager:
    """Kueue's configuration. waitForPodsReady is on by default since 0.19, with 30 minutes: always set here."""
    at = SPEC / "kueue"
    waits = at / "waitForPodsReady"
    given = QueuesSection.of(context.spec).kueue.wait_for_pods_ready
    test = _slowest_diagnostics(context)
    if test.seconds:
        tested = f", diagnostics of a new node {test}"
    else:
        tested = ""
    # Nodes that are always on are provisioned too: at the start, and whenever one is replaced.
    starts = PROVISION.seconds + test.seconds + PULL.seconds
    ready = context.settle(
        "kueue",
        "waitForPodsReady",
        given.timeout,
        Duration(starts + 300),
        f"provisioning {PROVISION}{tested}, image pull {PULL}, 5m of slack",
        _WAITS + "timeout",
        at=waits / "timeout",
    )
    returns = RECOVERY.seconds + test.seconds
    recovery = context.settle(
        "kueue",
        "recoveryTimeout",
        given.recovery_timeout,
        Duration(max(ready.seconds, returns)),
        f"repair of a node {REPAIR}, provisioning {PROVISION}{tested}, image pull {PULL}",
        _WAITS + "recoveryTimeout",
        at=waits / "recoveryTimeout",
    )
    requeues = evictions(context, ready, given.requeues)
    strategies = _preemption_strategies(context)
    frameworks = _frameworks(context)
    return QueueManager(
        at=at,
        origins={
            "pods_ready": waits / "timeout",
            "recovery": waits / "recoveryTimeout",
            "requeue_limit": waits / "requeues",
            "fair_sharing": at / "fairSharing",
        },
        fair_sharing=bool(strategies),
        preemption_strategies=strategies,
        pods_ready=ready,
        recovery=recovery,
        requeue_backoff=Duration(60),
        requeue_limit=requeues,
        frameworks=tuple(name for name in frameworks if name in INTEGRATIONS),
        external_frameworks=tuple(name for name in frameworks if name not in INTEGRATIONS),
        excluded_prefixes=_excluded(context),
    )


def _excluded(context: Context) -> tuple[str, ...]:
    """Resources of which queues have no quota: what a node has of them does not follow from its type.

    LIM004 holds each job against the space on the disks of its node.
    """
    pools = context.once(resolve_pools).values()
    uncounted = {resource for pool in pools for resource in launcher_of(pool).uncounted}
    return (EPHEMERAL, *sorted(uncounted))


def _frameworks(context: Context) -> tuple[str, ...]:
    """What Kueue calls the kinds that any cluster runs, and those of the spec's jobs and of what it includes."""
    known = kinds().values()
    always = sorted(kind.framework for kind in known if kind.framework and not kind.operator)
    more = {kind.framework for kind in used(context) if kind.framework and kind.operator}
    more |= {name for name in _included(context) if name not in always}
    return (*always, *sorted(more))


def _included(context: Context) -> Iterator[str]:
    """The integrations of included objects that have a queue, as far as this Kueue has them."""
    minor = tuple(map(int, context.version("kueue").split(".")[:2]))
    for included in context.included:
        labels = body.value_at(included.body, "metadata", "labels")
        name = integration_of(included.body["apiVersion"], included.body["kind"])
        is_queued = isinstance(labels, dict) and QUEUE in labels
        if is_queued and name is not None and (name not in GATES or minor >= GATES[name].since):
            yield name


def _preemption_strategies(context: Context) -> tuple[str, ...]:
    """Those of fair sharing, which is on where the spec says so, or a queue or cohort has a weight."""
    section = QueuesSection.of(context.spec)
    given = section.kueue.fair_sharing
    if given is not None:
        return tuple(given.preemption_strategies)
    weights = [queue.fair_sharing for queue in section.queues]
    weights += [cohort.fair_sharing for cohort in section.cohorts]
    if not any(weights):
        return ()

    strategies = FairSharing().preemption_strategies
    context.derive(
        "kueue",
        "fairSharing.preemptionStrategies",
        ", ".join(strategies),
        "queues or cohorts have a weight, which Kueue uses only with fair sharing",
        "config.kueue.x-k8s.io/v1beta2 Configuration fairSharing",
    )
    return tuple(strategies)


_WAITS = "config.kueue.x-k8s.io/v1beta2 Configuration waitForPodsReady."
