"""Where a job may land: pools by its node selector, its queue's flavors, its devices and its tolerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from trainyard.core.pods.plan import EFA, GPU, NEURON, Resources
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.core.queues.plan import FlavorQuotas, Queue, ResourceGroup
from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.choice import Choice
from trainyard.judge.model.nodes import Nodes
from trainyard.judge.model.offers import without_accelerators
from trainyard.judge.model.work import Work
from trainyard.plan.scheduling import (
    INSTANCE_TYPE,
    NODEPOOL_LABEL,
    POOL_LABEL,
    Requirement,
    Toleration,
    untolerated,
)

Tolerations = tuple[Toleration, ...]
PoolTerms = tuple[tuple[Requirement, ...], ...]


_PINNING_LABELS = (NODEPOOL_LABEL, POOL_LABEL, INSTANCE_TYPE)


def find_choices(
    nodes: Nodes,
    selector: Mapping[str, str],
    queue: Queue | None,
    asks: Resources,
    reach: Tolerations | None,
    terms: PoolTerms = (),
) -> tuple[Choice, ...]:
    """Each way through the flavors of the queue that leads to a pool of the set; () is unknown.

    Kueue gives a job one flavor in each resource group that covers something it asks for, and adds the labels and
    tolerations of each to its pods (kueue v0.19.2, flavorassigner). ``terms``: the pools of which the pods require one.
    """
    pools = tuple(
        pool
        for pool in nodes.pools
        if nodes.may_match(pool, selector) and meets(nodes, pool, terms)
    )
    choices = [Choice(pools, labels=selector)]
    for group in groups_of(queue, asks):
        flavors = flavors_with_quota(queue, group, asks)
        choices = _follow_group(nodes, choices, flavors)
    choices = _with_pools(choices)
    is_pinned = any(label in selector for label in _PINNING_LABELS)
    if not terms and not is_pinned:
        choices = _with_pools(_prefer_device_pools(nodes, choices, asks))
    choices = [_prefer_tolerated_pools(choice, asks, reach) for choice in choices]
    return tuple(
        replace(choice, offers=nodes.offers(choice.pools, choice.labels)) for choice in choices
    )


def meets(nodes: Nodes, pool: Pool, terms: PoolTerms) -> bool:
    """Whether nodes of a pool may match one of the terms; without terms every node does."""
    if not terms:
        return True
    return any(_meets_all(nodes, pool, term) for term in terms)


def _meets_all(nodes: Nodes, pool: Pool, term: tuple[Requirement, ...]) -> bool:
    return all(_holds(nodes, pool, requirement) for requirement in term)


def _holds(nodes: Nodes, pool: Pool, requirement: Requirement) -> bool:
    key = requirement.key
    if requirement.operator == "DoesNotExist":
        if key in pool.labels:
            return False
        return key != NODEPOOL_LABEL or isinstance(pool, FixedPool)
    values = requirement.values
    return any(nodes.may_match(pool, {key: value}) for value in values)


def _with_pools(choices: list[Choice]) -> list[Choice]:
    return [choice for choice in choices if choice.pools]


def _follow_group(
    nodes: Nodes, choices: list[Choice], quotas: tuple[FlavorQuotas, ...]
) -> list[Choice]:
    """Each choice with each flavor of a group; the choices as they are where a flavor is not in the set."""
    flavors = []
    for quota in quotas:
        flavor = nodes.plan.named(Flavor, quota.flavor)
        if flavor is None:
            return choices
        flavors.append(flavor)
    if not flavors:
        return choices
    pairs = product(choices, flavors)
    return [_add_flavor(nodes, choice, flavor) for choice, flavor in pairs]


def _add_flavor(nodes: Nodes, choice: Choice, flavor: Flavor) -> Choice:
    """A choice with the labels and tolerations of one more flavor. It is named for the last flavor with labels."""
    wanted = flavor.node_labels
    named = flavor
    if choice.flavor is not None and not wanted:
        named = choice.flavor
    pools = [pool for pool in choice.pools if nodes.may_match(pool, wanted)]
    return Choice(
        pools=tuple(pools),
        flavor=named,
        tolerations=(*choice.tolerations, *flavor.tolerations),
        labels={**choice.labels, **wanted},
    )


def groups_of(queue: Queue | None, asks: Resources) -> tuple[ResourceGroup, ...]:
    """The resource groups that cover something of what is asked for; all of them if none does."""
    if queue is None:
        return ()
    names = asks.keys()
    covering = tuple(group for group in queue.groups if not names.isdisjoint(group.covered))
    return covering or queue.groups


def flavors_with_quota(
    queue: Queue | None, group: ResourceGroup, asks: Resources
) -> tuple[FlavorQuotas, ...]:
    """The flavors of which the queue has some of all that is asked for: Kueue passes over one of which it has nothing
    and can borrow nothing. All of them if none is left."""
    if queue is None or queue.cohort is not None:
        return group.flavors
    offering = tuple(flavor for flavor in group.flavors if not _lacks_quota(flavor, asks))
    return offering or group.flavors


def _lacks_quota(flavor: FlavorQuotas, asks: Resources) -> bool:
    """Whether a flavor has a quota of nothing for something that is asked for."""
    for quota in flavor.quotas:
        asked = asks.get(quota.resource)
        if asked is None or not asked.milli:
            continue
        if quota.nominal.milli == 0:
            return True
    return False


def knows_flavors(work: Work, nodes: Nodes) -> bool:
    """Whether the set has the job's queue and every flavor of it: what is elsewhere may say more of its nodes."""
    if work.queue_unknown:
        return False
    quotas = work.queue.flavors() if work.queue else ()
    return all(nodes.plan.named(Flavor, quota.flavor) is not None for quota in quotas)


def describes_nodes(nodes: Nodes) -> bool:
    """Whether the set says on which nodes jobs run: by its node pools, or by node groups with accelerators."""
    if nodes.plan.of(Pool):
        return True
    return any(nodes.accelerated(pool) for pool in nodes.pools)


def conflicts_with_flavor(work: Work, nodes: Nodes, key: str) -> bool:
    """Whether a flavor of the job's queue says a label that the job selects, and some pool has it as the job wants: the
    job and the flavor are then at odds, not the job and the pools."""
    if work.queue is None:
        return False
    quotas = work.queue.flavors()
    flavors = [nodes.plan.named(Flavor, quota.flavor) for quota in quotas]
    known = [flavor for flavor in flavors if flavor is not None]
    if not any(key in flavor.node_labels for flavor in known):
        return False
    if not nodes.pools:
        return True
    wanted = {key: work.selector[key]}
    return any(nodes.may_match(pool, wanted) for pool in nodes.pools)


def _prefer_device_pools(nodes: Nodes, choices: list[Choice], asks: Resources) -> list[Choice]:
    """Without a pin, a job that asks for a device belongs to pools that have it; none in the set is unknown. A flavor
    whose labels a pool certainly has is a pin. Where nodes are large enough for the job, no other pool is meant."""
    devices = [device for device in (GPU, NEURON) if device in asks]
    resource = devices[0] if devices else None
    if resource is None:
        return choices

    def with_device(choice: Choice) -> Choice:
        pools = [
            pool
            for pool in choice.pools
            if _may_have_device(nodes, pool, resource) or _is_pinned(nodes, pool, choice.flavor)
        ]
        return replace(choice, pools=tuple(pools))

    def with_large_nodes(choice: Choice) -> Choice:
        pools = [
            pool for pool in choice.pools if _may_be_large(nodes, pool, choice, resource, asks)
        ]
        return replace(choice, pools=tuple(pools))

    having = [with_device(choice) for choice in choices]
    large = [with_large_nodes(choice) for choice in having]
    return _with_pools(large) or having


def _may_be_large(nodes: Nodes, pool: Pool, choice: Choice, resource: str, asks: Resources) -> bool:
    """Whether some node of a pool may have as many devices as are asked for."""
    offers = nodes.offers((pool,), choice.labels)
    if not offers:
        return True
    devices = asks[resource].value
    efa = 0
    if EFA in asks:
        efa = asks[EFA].value
    for own_pool, instance in offers:
        if instance.accelerators < devices:
            continue
        if nodes.efa_of(own_pool, instance) >= efa:
            return True
    return False


def _may_have_device(nodes: Nodes, pool: Pool, resource: str) -> bool:
    types = nodes.types(pool)
    if not types:
        return not without_accelerators(pool)
    return any(instance.accelerator_resource == resource for instance in types)


def _is_pinned(nodes: Nodes, pool: Pool, flavor: Flavor | None) -> bool:
    """Whether a pool certainly has every label of a flavor that has some."""
    if flavor is None or not flavor.node_labels:
        return False
    return all(nodes.has_label(pool, key, value) for key, value in flavor.node_labels.items())


def _prefer_tolerated_pools(choice: Choice, asks: Resources, reach: Tolerations | None) -> Choice:
    """The pools whose taints the job tolerates; all of them if it tolerates none."""
    if reach is None:
        return choice
    tolerations = (*reach, *choice.tolerations)
    pools = tuple(pool for pool in choice.pools if not repelling_taint(pool, tolerations, asks))
    if pools:
        return replace(choice, pools=pools)
    return choice


def repelling_taint(pool: Pool, reach: Tolerations, asks: Resources) -> str:
    """The first taint of a pool that repels a pod, or nothing. EKS adds a toleration for each device that a pod asks
    for, where the key of the taint is its name (Kubernetes, ExtendedResourceToleration)."""
    for taint in untolerated(pool.taints, reach):
        if taint.key not in asks:
            return str(taint)
    return ""
