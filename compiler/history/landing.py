"""What the nodes of a pool are, as far as a run's pods land on no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.plan import Plan
from compiler.subjects.pools.plan import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    POOL_LABEL,
    ZONE,
    NodeClass,
    NodePool,
)

Landing = dict[str, list[str]]
_OFFERED = {"instanceTypes": INSTANCE_TYPE, "zones": ZONE, "capacity": CAPACITY_TYPE}
_WORDS = {
    "instanceTypes": "instance type",
    "zones": "zone",
    "capacity": "capacity",
    "efa": "EFA",
}


def landing(plan: Plan, pool: str) -> Landing:
    """Instance types, zones, capacity types, taints and EFA of a pool of the spec."""
    nodes = [
        node_pool
        for node_pool in plan.of(NodePool)
        if pool in (node_pool.name, node_pool.labels.get(POOL_LABEL))
    ]
    found: Landing = {}
    for word, key in _OFFERED.items():
        found[word] = sorted(
            {value for node_pool in nodes for value in _values(node_pool, key)}
        )
    found["taints"] = sorted(
        {str(taint) for node_pool in nodes for taint in node_pool.taints}
    )
    classes = [plan.named(NodeClass, node_pool.node_class) for node_pool in nodes]
    found["efa"] = (
        ["yes"]
        if any(node_class and node_class.interfaces for node_class in classes)
        else []
    )
    return found


def _values(pool: NodePool, key: str) -> Iterator[str]:
    for requirement in pool.requirements:
        if requirement.key == key:
            yield from requirement.values


def lost_landing(
    before: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """What a pool no longer offers, and which of its taints a run does not tolerate, in words."""
    for word, name in _WORDS.items():
        for value in before.get(word, ()):
            if value not in now[word]:
                yield name if word == "efa" else f"{name} `{value}`"
    if before:
        for taint in now["taints"]:
            if taint not in before["taints"]:
                yield f"freedom from taint `{taint}`"
