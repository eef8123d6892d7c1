"""Where a job may land: pools by its node selector, its queue's flavors, its devices and its tolerations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from compiler.model.nodes import Nodes
from compiler.model.offers import without_accelerators
from compiler.model.work import Choice, Offer, Work
from compiler.subjects.jobs.plan import EFA, GPU, NEURON, Resources
from compiler.subjects.pools.plan import (
    INSTANCE_TYPE,
    NODEPOOL_LABEL,
    POOL_LABEL,
    NodePool,
    Toleration,
    untolerated,
)
from compiler.subjects.queues.plan import (
    ClusterQueue,
    Flavor,
    FlavorQuotas,
    ResourceGroup,
)

Tolerations = tuple[Toleration, ...]


def find_choices(
    nodes: Nodes,
    selector: Mapping[str, str],
    queue: ClusterQueue | None,
    asks: Resources,
    reach: Tolerations | None,
) -> tuple[Choice, ...]:
    """Each way through the flavors of the queue that leads to a pool of the set; () is unknown.

    Kueue gives a job one flavor in each resource group that covers something it asks for, and adds the labels and
    tolerations of each to its pods (kueue v0.19.2, flavorassigner).
    """
    pools = tuple(each for each in nodes.pools if nodes.may_match(each, selector))
    choices: tuple[Choice, ...] = (Choice(pools, labels=selector),)
    for group in groups_of(queue, asks):
        flavors = [
            nodes.plan.named(Flavor, each.flavor) for each in giving(queue, group, asks)
        ]
        known = [each for each in flavors if each is not None]
        if known and len(known) == len(flavors):
            choices = tuple(
                _narrowed(nodes, choice, flavor)
                for choice in choices
                for flavor in known
            )
    found = [each for each in choices if each.pools]
    if not any(key in selector for key in (NODEPOOL_LABEL, POOL_LABEL, INSTANCE_TYPE)):
        found = _with_devices(nodes, found, asks)
    found = [_tolerated(each, asks, reach) for each in found if each.pools]
    return tuple(
        replace(each, offers=nodes.offers(each.pools, each.labels)) for each in found
    )


def groups_of(queue: ClusterQueue | None, asks: Resources) -> Iterator[ResourceGroup]:
    """The resource groups that cover something of what is asked for; all of them if none does."""
    groups = queue.groups if queue else ()
    covering = [each for each in groups if any(name in asks for name in each.covered)]
    yield from covering or groups


def giving(
    queue: ClusterQueue | None, group: ResourceGroup, asks: Resources
) -> tuple[FlavorQuotas, ...]:
    """The flavors of which the queue has some of all that is asked for: Kueue passes over one of which it has nothing
    and can borrow nothing. All of them if none is left."""
    if queue is None or queue.cohort is not None:
        return group.flavors
    found = [
        each
        for each in group.flavors
        if not any(
            quota.nominal.milli == 0
            and quota.resource in asks
            and asks[quota.resource].milli
            for quota in each.quotas
        )
    ]
    return tuple(found) or group.flavors


def whole(nodes: Nodes) -> bool:
    """Whether the set tells the nodes that jobs run on: its node pools, or node groups with accelerators."""
    return bool(nodes.plan.of(NodePool)) or any(
        nodes.accelerated(each) for each in nodes.pools
    )


def told_by_flavor(work: Work, nodes: Nodes, key: str) -> bool:
    """Whether a flavor of the job's queue says a label that the job selects, and some pool has it as the job wants: the
    job and the flavor are then at odds, not the job and the pools."""
    flavors = (
        [nodes.plan.named(Flavor, each.flavor) for each in work.queue.flavors()]
        if work.queue
        else []
    )
    if not any(each is not None and key in each.node_labels for each in flavors):
        return False
    return not nodes.pools or any(
        nodes.has_label(each, key, work.selector[key]) is not False
        for each in nodes.pools
    )


def _narrowed(nodes: Nodes, choice: Choice, flavor: Flavor) -> Choice:
    named = flavor if flavor.node_labels or choice.flavor is None else choice.flavor
    pools = tuple(
        each for each in choice.pools if nodes.may_match(each, flavor.node_labels)
    )
    labels = {**choice.labels, **flavor.node_labels}
    return Choice(pools, named, (*choice.tolerations, *flavor.tolerations), labels)


def _with_devices(nodes: Nodes, choices: list[Choice], asks: Resources) -> list[Choice]:
    """Without a pin, a job that asks for a device belongs to pools that have it; none in the set is unknown. A flavor
    whose labels a pool certainly has is a pin. Where nodes are large enough for the job, no other pool is meant."""
    resource = next((each for each in (GPU, NEURON) if each in asks), None)
    if resource is None:
        return choices
    found = [
        replace(
            choice,
            pools=tuple(
                each
                for each in choice.pools
                if _has(nodes, each, resource) or _pinned(nodes, each, choice.flavor)
            ),
        )
        for choice in choices
    ]
    large = [
        replace(
            choice,
            pools=tuple(
                each
                for each in choice.pools
                if _large(nodes.offers((each,), choice.labels), nodes, resource, asks)
            ),
        )
        for choice in found
    ]
    kept = [each for each in large if each.pools]
    return kept or found


def _large(
    offers: tuple[Offer, ...], nodes: Nodes, resource: str, asks: Resources
) -> bool:
    """Whether some node of a pool may have as many devices as are asked for."""
    efa = asks[EFA].value if EFA in asks else 0
    return not offers or any(
        each.accelerators >= asks[resource].value and nodes.efa_of(pool, each) >= efa
        for pool, each in offers
    )


def _has(nodes: Nodes, pool: NodePool, resource: str) -> bool:
    types = nodes.types(pool)
    return (
        any(each.accelerator_resource == resource for each in types)
        if types
        else not without_accelerators(pool)
    )


def _pinned(nodes: Nodes, pool: NodePool, flavor: Flavor | None) -> bool:
    return (
        flavor is not None
        and bool(flavor.node_labels)
        and all(
            nodes.has_label(pool, key, value)
            for key, value in flavor.node_labels.items()
        )
    )


def _tolerated(choice: Choice, asks: Resources, reach: Tolerations | None) -> Choice:
    """The pools whose taints the job tolerates; all of them if it tolerates none."""
    if reach is None:
        return choice
    held = (*reach, *choice.tolerations)
    kept = tuple(each for each in choice.pools if not keeping_away(each, held, asks))
    return replace(choice, pools=kept) if kept else choice


def keeping_away(pool: NodePool, reach: Tolerations, asks: Resources) -> str:
    """The first taint of a pool that keeps a pod away, or nothing. EKS adds a toleration for each device that a pod
    asks for, where the key of the taint is its name (Kubernetes, ExtendedResourceToleration)."""
    left = (each for each in untolerated(pool.taints, reach) if each.key not in asks)
    return next((str(each) for each in left), "")
