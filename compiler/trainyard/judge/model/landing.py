"""Where jobs land: the pools, and what their nodes have."""

from __future__ import annotations

from trainyard.catalog import InstanceType
from trainyard.core.pods.plan import Resources
from trainyard.core.pools.plan import Pool
from trainyard.judge.model.choice import Choice, Offer
from trainyard.plan import Quantity

Landing = tuple[tuple[Pool, ...], tuple[Offer, ...], tuple[InstanceType, ...]]


def landing_of(choices: tuple[Choice, ...]) -> Landing:
    """All pools of some choices, with their offers and types, each once."""
    pools: dict[str, Pool] = {}
    offers: dict[tuple[str, str], Offer] = {}
    types: dict[str, InstanceType] = {}
    for choice in choices:
        pools |= {pool.name: pool for pool in choice.pools}
    if all(choice.offers for choice in choices):
        for choice in choices:
            for pool, instance in choice.offers:
                offers[pool.name, instance.name] = (pool, instance)
                types[instance.name] = instance
    return (tuple(pools.values()), tuple(offers.values()), tuple(types.values()))


def devices_of(offers: tuple[Offer, ...]) -> Resources:
    """The accelerators of a node, where all that a job may get have the same kind: those of the smallest."""
    kinds = {instance.accelerator_resource for _, instance in offers}
    if len(kinds) != 1:
        return {}
    count = min(instance.accelerators for _, instance in offers)
    (resource,) = kinds
    return {resource: Quantity.of(count)} if resource and count else {}
