"""Properties of a pool's nodes that decide where the pods of a run land."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.eks.nodes.plan import NodeGroup, NodePool
from trainyard.judge.model.nodes import class_of
from trainyard.plan import Plan
from trainyard.plan.scheduling import CAPACITY_TYPE, INSTANCE_TYPE, ZONE

Landing = dict[str, list[str]]
_OFFERED = {"instanceTypes": INSTANCE_TYPE, "zones": ZONE, "capacity": CAPACITY_TYPE}
_WORDS = {"instanceTypes": "instance type", "zones": "zone", "capacity": "capacity", "efa": "EFA"}


def landing(plan: Plan, pool: str) -> Landing:
    """Instance types, zones, capacity types, taints and EFA of a pool of the spec."""
    nodes = [
        node_pool for node_pool in plan.of(NodePool) if pool in (node_pool.name, node_pool.title)
    ]
    all_groups = plan.of(NodeGroup)
    groups = [group for group in all_groups if group.title == pool]
    if groups:
        return _of_groups(groups)
    offered = {word: _values(nodes, label) for word, label in _OFFERED.items()}
    taints: set[str] = set()
    has_efa = False
    for node_pool in nodes:
        taints.update(map(str, node_pool.taints))
        node_class = class_of(plan, node_pool)
        if node_class and node_class.interfaces:
            has_efa = True
    return {**offered, "taints": sorted(taints), "efa": ["yes"] if has_efa else []}


def _of_groups(groups: Sequence[NodeGroup]) -> Landing:
    """The same of managed node groups."""
    types: set[str] = set()
    zones: set[str] = set()
    taints: set[str] = set()
    for group in groups:
        types.update(group.instance_types)
        zones.update(group.zones)
        taints.update(map(str, group.taints))
    has_efa = any(group.efa for group in groups)
    return {
        "instanceTypes": sorted(types),
        "zones": sorted(zones),
        "capacity": sorted(set(map(_capacity_of, groups))),
        "taints": sorted(taints),
        "efa": ["yes"] if has_efa else [],
    }


def _capacity_of(group: NodeGroup) -> str:
    if group.reservation:
        return "reserved"
    return "spot" if group.spot else "on-demand"


def _values(pools: Sequence[NodePool], label: str) -> list[str]:
    """What the requirements of some pools say of a label."""
    values: set[str] = set()
    for pool in pools:
        for requirement in pool.requirements:
            if requirement.key == label:
                values.update(requirement.values)
    return sorted(values)


def lost_landing(
    before: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """What a pool no longer offers, and which of its taints a run does not tolerate, in words."""
    for word, name in _WORDS.items():
        for value in before.get(word, ()):
            if value in now[word]:
                continue
            yield name if word == "efa" else f"{name} `{value}`"
    if before:
        for taint in now["taints"]:
            if taint not in before["taints"]:
                yield f"freedom from taint `{taint}`"
