"""What a simulation starts from, read out of Kubernetes bodies, and the nodes that the pools of a plan may have.

The bodies are those that a spec compiles to, or any others. Defaults are those of Kueue's API. Source: Kueue 0.19.2,
apis/kueue/v1beta2 (clusterqueue_types.go, cohort_types.go, topology_types.go, localqueue_types.go).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.catalog import InstanceType, huge_pages_mib
from trainyard.core.pods.plan import EFA, HUGEPAGES
from trainyard.core.pools.plan import NodeShare, Pool
from trainyard.eks.kueue.plan import Flavor as PlannedFlavor
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
from trainyard.judge.model.fit import node_room
from trainyard.judge.model.reading import Reading
from trainyard.language.dataclass import dataclass
from trainyard.plan.scheduling import HOSTNAME, INSTANCE_TYPE, NODEPOOL_LABEL, ZONE, Taint
from trainyard.verify.amounts import amount

Body = Mapping[str, Any]
_NEVER = "Never"


def whole(resource: str, value: Any) -> int:
    """An amount in Kueue's unit, rounded up; 0 of what is none."""
    number = amount(value)
    if number is None:
        return 0
    return math.ceil(number * 1000 if resource == "cpu" else number)


def read_amounts(values: Any) -> dict[str, int]:
    """A list of resources, like ``requests`` or ``allocatable``."""
    return {str(name): whole(str(name), value) for name, value in (values or {}).items()}


def read_world(
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
        {_name_of(body): _read_flavor(body) for body in kinds.get("ResourceFlavor", ())},
        {_name_of(body): _read_levels(body) for body in kinds.get("Topology", ())},
        tuple(_read_cohort(body) for body in kinds.get("Cohort", ())),
        tuple(_read_queue(body) for body in kinds.get("ClusterQueue", ())),
        tuple(_read_local_queue(body) for body in kinds.get("LocalQueue", ())),
        {_name_of(body): _namespace_labels(body) for body in kinds.get("Namespace", ())},
        (*(_read_node(body) for body in kinds.get("Node", ())), *nodes),
        fair,
        only_covered,
    )


def _name_of(body: Body) -> str:
    return str(body["metadata"]["name"])


def _namespace_labels(body: Body) -> Mapping[str, str]:
    """The labels of a namespace, with its name, which the API server adds."""
    return {**(body["metadata"].get("labels") or {}), "kubernetes.io/metadata.name": _name_of(body)}


def _spec_of(body: Body) -> Body:
    return body.get("spec") or {}


def _read_flavor(body: Body) -> Flavor:
    spec = _spec_of(body)
    return Flavor(
        _name_of(body),
        spec.get("nodeLabels") or {},
        tuple(spec.get("nodeTaints") or ()),
        tuple(spec.get("tolerations") or ()),
        spec.get("topologyName"),
    )


def _read_levels(body: Body) -> tuple[str, ...]:
    return tuple(str(level["nodeLabel"]) for level in _spec_of(body).get("levels") or ())


def _read_quotas(spec: Body) -> dict[Cell, Limits]:
    quotas = {}
    for group in spec.get("resourceGroups") or ():
        for flavor in group.get("flavors") or ():
            for resource in flavor.get("resources") or ():
                name = str(resource["name"])
                quotas[Cell(str(flavor["name"]), name)] = Limits(
                    whole(name, resource.get("nominalQuota", 0)),
                    _read_limit(name, resource.get("borrowingLimit")),
                    _read_limit(name, resource.get("lendingLimit")),
                )
    return quotas


def _read_limit(resource: str, value: Any) -> int | None:
    return None if value is None else whole(resource, value)


def _read_weight(spec: Body) -> float:
    found = amount((spec.get("fairSharing") or {}).get("weight", 1))
    return float(1 if found is None else found)


def _read_cohort(body: Body) -> Cohort:
    spec = _spec_of(body)
    return Cohort(_name_of(body), spec.get("parentName"), _read_quotas(spec), _read_weight(spec))


def _read_queue(body: Body) -> Queue:
    spec = _spec_of(body)
    groups = []
    for group in spec.get("resourceGroups") or ():
        flavors = tuple(str(flavor["name"]) for flavor in group.get("flavors") or ())
        groups.append(Group(frozenset(map(str, group.get("coveredResources") or ())), flavors))
    fungibility = spec.get("flavorFungibility") or {}
    return Queue(
        _name_of(body),
        spec.get("cohortName"),
        spec.get("queueingStrategy") == "StrictFIFO",
        tuple(groups),
        _read_quotas(spec),
        spec.get("namespaceSelector"),
        _read_preemption(spec.get("preemption") or {}),
        fungibility.get("whenCanBorrow") == "TryNextFlavor",
        fungibility.get("whenCanPreempt", "TryNextFlavor") == "TryNextFlavor",
        fungibility.get("preference") == "PreemptionOverBorrowing",
        _read_weight(spec),
        str(spec.get("stopPolicy") or "None"),
    )


def _read_preemption(preemption: Body) -> Preemption:
    borrowing = preemption.get("borrowWithinCohort") or {}
    return Preemption(
        str(preemption.get("withinClusterQueue") or _NEVER),
        str(preemption.get("reclaimWithinCohort") or _NEVER),
        str(borrowing.get("policy") or _NEVER),
        borrowing.get("maxPriorityThreshold"),
    )


def _read_local_queue(body: Body) -> LocalQueue:
    spec = _spec_of(body)
    namespace = str(body["metadata"].get("namespace", "default"))
    stopped = str(spec.get("stopPolicy") or "None")
    return LocalQueue(namespace, _name_of(body), str(spec.get("clusterQueue")), stopped)


def _read_node(body: Body) -> Node:
    return Node(
        _name_of(body),
        body["metadata"].get("labels") or {},
        tuple(_spec_of(body).get("taints") or ()),
        read_amounts((body.get("status") or {}).get("allocatable")),
    )


# The nodes that pools may have: what a topology is made of, and where admitted pods would run.


_PODS = 110
_MIB = 1024**2


@dataclass(frozen=True, slots=True)
class PoolNodes:
    """A pool with the nodes that it may have. ``bounded``: its limit is known, so there are no more of them.
    ``flavors``: those that select it."""

    title: str
    zone: str
    nodes: tuple[Node, ...]
    bounded: bool
    flavors: tuple[str, ...] = ()


class Assumed:
    """What is assumed about nodes that do not exist yet, in sentences, each once."""

    def __init__(self) -> None:
        self.notes: dict[str, None] = {}
        self.levels: set[str] = set()

    def say(self, note: str) -> None:
        """Remember a sentence."""
        self.notes[note] = None


def pool_nodes(
    world: Reading, counts: Mapping[str, int], asked: int, assumed: Assumed
) -> list[PoolNodes]:
    """The nodes of all pools of flavors. ``counts``: how many nodes pools are to have, by what people call them, taken
    from the first of a pool's reservations on. ``asked``: nodes of a pool whose limit is not known."""
    flavors = world.plan.of(PlannedFlavor)
    left = dict(counts)
    found = []
    for pool in world.pools:
        of_pool = [flavor for flavor in flavors if pool in world.pools_of(flavor)]
        types = world.types(pool)
        if not of_pool or not types:
            continue
        instance = types[0]
        if len(types) > 1:
            assumed.say(f"nodes of `{pool.title}` are taken to be {instance.name}, its first type")
        most = world.most_nodes(pool, instance)
        count = asked if most is None else most
        if pool.title in left:
            count = min(count, left[pool.title])
            left[pool.title] -= count
        nodes = tuple(_nodes_of_pool(pool, instance, count, world, of_pool, assumed))
        zone = (pool.zones or ("",))[0]
        names = tuple(flavor.name for flavor in of_pool)
        found.append(PoolNodes(pool.title, zone, nodes, most is not None, names))
    return found


def empty_flavors(pools: Sequence[PoolNodes]) -> frozenset[str]:
    """The flavors of which all pools have no nodes."""
    with_nodes = {flavor for pool in pools if pool.nodes for flavor in pool.flavors}
    return frozenset(flavor for pool in pools for flavor in pool.flavors) - with_nodes


def _nodes_of_pool(
    pool: Pool,
    instance: InstanceType,
    count: int,
    world: Reading,
    flavors: Sequence[PlannedFlavor],
    assumed: Assumed,
) -> Iterator[Node]:
    labels: dict[str, str] = {
        **pool.labels,
        INSTANCE_TYPE: instance.name,
        NODEPOOL_LABEL: pool.name,
    }
    for requirement in pool.requirements:
        values = pool.values(requirement.key)
        if values:
            labels.setdefault(requirement.key, values[0])
    for flavor in flavors:
        labels.update(flavor.node_labels)
    zones = pool.zones
    if zones:
        labels[ZONE] = zones[0]
        if len(zones) > 1:
            assumed.say(f"nodes of `{pool.title}` are taken to be in {zones[0]}, its first zone")
    topologies = {flavor.topology for flavor in flavors if flavor.topology}
    for level in _levels_of(world, topologies):
        if level not in labels and level != HOSTNAME:
            labels[level] = f"one of {pool.name}"
            assumed.levels.add(level)
    room = _allocatable_of(pool, instance, world)
    taints = tuple(map(_taint_body, pool.taints))
    width = len(str(count))
    for index in range(count):
        name = f"{pool.name}-{index:0{width}}"
        yield Node(name, {**labels, HOSTNAME: name}, taints, room)


def _levels_of(world: Reading, topologies: set[str]) -> Iterator[str]:
    for body in (manifest.body for manifest in world.manifests):
        if body.get("kind") == "Topology" and body["metadata"]["name"] in topologies:
            for level in body["spec"]["levels"]:
                yield str(level["nodeLabel"])


def _taint_body(taint: Taint) -> Mapping[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


def _allocatable_of(pool: Pool, instance: InstanceType, world: Reading) -> Mapping[str, int]:
    """What jobs can get of a node: the share that the plan says, or else what the kubelet leaves."""
    pages = any(HUGEPAGES in work.asks for work in world.works_on(pool))
    left = node_room(pool, instance, world, huge_pages=pages)
    room = {"cpu": left.cpu_milli, "memory": left.memory_mib * _MIB, "pods": _PODS}
    if instance.accelerator_resource:
        room[instance.accelerator_resource] = instance.accelerators
    efa = world.efa_of(pool, instance)
    if efa:
        room[EFA] = efa
    if pages:
        room[HUGEPAGES] = huge_pages_mib(instance) * _MIB
    share = world.plan.named(NodeShare, pool.title)
    if share is not None:
        for resource, quantity in {**share.resources, **share.left}.items():
            room[resource] = quantity.milli if resource == "cpu" else quantity.value
    return room
