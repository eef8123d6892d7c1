"""Reads what a simulation starts from out of Kubernetes bodies: those that a spec compiles to, or any others.

Defaults are those of Kueue's API. Source: Kueue 0.19.2, apis/kueue/v1beta2 (clusterqueue_types.go, cohort_types.go,
topology_types.go, localqueue_types.go).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.extensions.forecast.simulate.objects import (
    Cell,
    Cohort,
    Flavor,
    Group,
    Limits,
    LocalQueue,
    Node,
    Preemption,
    Queue,
)
from trainyard.extensions.forecast.simulate.state import World
from trainyard.verify.amounts import amount

Body = Mapping[str, Any]

_NEVER = "Never"


def whole(resource: str, value: Any) -> int:
    """An amount in Kueue's unit, rounded up; 0 of what is none."""
    number = amount(value)
    if number is None:
        return 0
    return math.ceil(number * 1000 if resource == "cpu" else number)


def amounts(values: Any) -> dict[str, int]:
    """A list of resources, like ``requests`` or ``allocatable``."""
    return {str(name): whole(str(name), value) for name, value in (values or {}).items()}


def world(
    bodies: Iterable[Body],
    nodes: Iterable[Node] = (),
    *,
    fair: bool = False,
    only_covered: bool = False,
) -> World:
    """What a simulation starts from. Objects of other kinds are passed over; ``nodes`` are further ones."""
    kinds: dict[str, list[Body]] = {}
    for body in bodies:
        kinds.setdefault(str(body.get("kind")), []).append(body)
    return World(
        {_name(body): _flavor(body) for body in kinds.get("ResourceFlavor", ())},
        {_name(body): _levels(body) for body in kinds.get("Topology", ())},
        tuple(_cohort(body) for body in kinds.get("Cohort", ())),
        tuple(_queue(body) for body in kinds.get("ClusterQueue", ())),
        tuple(_local_queue(body) for body in kinds.get("LocalQueue", ())),
        {_name(body): _labels(body) for body in kinds.get("Namespace", ())},
        (*(_node(body) for body in kinds.get("Node", ())), *nodes),
        fair,
        only_covered,
    )


def _name(body: Body) -> str:
    return str(body["metadata"]["name"])


def _labels(body: Body) -> Mapping[str, str]:
    """The labels of a namespace, with its name, which the API server adds."""
    return {**(body["metadata"].get("labels") or {}), "kubernetes.io/metadata.name": _name(body)}


def _spec(body: Body) -> Body:
    return body.get("spec") or {}


def _flavor(body: Body) -> Flavor:
    spec = _spec(body)
    return Flavor(
        _name(body),
        spec.get("nodeLabels") or {},
        tuple(spec.get("nodeTaints") or ()),
        tuple(spec.get("tolerations") or ()),
        spec.get("topologyName"),
    )


def _levels(body: Body) -> tuple[str, ...]:
    return tuple(str(level["nodeLabel"]) for level in _spec(body).get("levels") or ())


def _quotas(spec: Body) -> dict[Cell, Limits]:
    quotas = {}
    for group in spec.get("resourceGroups") or ():
        for flavor in group.get("flavors") or ():
            for resource in flavor.get("resources") or ():
                name = str(resource["name"])
                quotas[Cell(str(flavor["name"]), name)] = Limits(
                    whole(name, resource.get("nominalQuota", 0)),
                    _limit(name, resource.get("borrowingLimit")),
                    _limit(name, resource.get("lendingLimit")),
                )
    return quotas


def _limit(resource: str, value: Any) -> int | None:
    return None if value is None else whole(resource, value)


def _weight(spec: Body) -> float:
    found = amount((spec.get("fairSharing") or {}).get("weight", 1))
    return float(1 if found is None else found)


def _cohort(body: Body) -> Cohort:
    spec = _spec(body)
    return Cohort(_name(body), spec.get("parentName"), _quotas(spec), _weight(spec))


def _queue(body: Body) -> Queue:
    spec = _spec(body)
    groups = []
    for group in spec.get("resourceGroups") or ():
        flavors = tuple(str(flavor["name"]) for flavor in group.get("flavors") or ())
        groups.append(Group(frozenset(map(str, group.get("coveredResources") or ())), flavors))
    fungibility = spec.get("flavorFungibility") or {}
    return Queue(
        _name(body),
        spec.get("cohortName"),
        spec.get("queueingStrategy") == "StrictFIFO",
        tuple(groups),
        _quotas(spec),
        spec.get("namespaceSelector"),
        _preemption(spec.get("preemption") or {}),
        fungibility.get("whenCanBorrow") == "TryNextFlavor",
        fungibility.get("whenCanPreempt", "TryNextFlavor") == "TryNextFlavor",
        fungibility.get("preference") == "PreemptionOverBorrowing",
        _weight(spec),
        str(spec.get("stopPolicy") or "None"),
    )


def _preemption(preemption: Body) -> Preemption:
    borrowing = preemption.get("borrowWithinCohort") or {}
    return Preemption(
        str(preemption.get("withinClusterQueue") or _NEVER),
        str(preemption.get("reclaimWithinCohort") or _NEVER),
        str(borrowing.get("policy") or _NEVER),
        borrowing.get("maxPriorityThreshold"),
    )


def _local_queue(body: Body) -> LocalQueue:
    spec = _spec(body)
    namespace = str(body["metadata"].get("namespace", "default"))
    stopped = str(spec.get("stopPolicy") or "None")
    return LocalQueue(namespace, _name(body), str(spec.get("clusterQueue")), stopped)


def _node(body: Body) -> Node:
    return Node(
        _name(body),
        body["metadata"].get("labels") or {},
        tuple(_spec(body).get("taints") or ()),
        amounts((body.get("status") or {}).get("allocatable")),
    )
