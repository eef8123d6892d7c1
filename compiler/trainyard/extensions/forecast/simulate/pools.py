"""The nodes that the pools of a plan may have: what a topology is made of, and where admitted pods would run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.catalog import InstanceType, huge_pages_mib
from trainyard.core.pods.plan import EFA, HUGEPAGES
from trainyard.core.pools.plan import NodeShare, Pool
from trainyard.eks.kueue.plan import Flavor
from trainyard.extensions.forecast.simulate.objects import Node
from trainyard.judge.model.fit import node_room
from trainyard.judge.model.reading import Reading
from trainyard.language.dataclass import dataclass
from trainyard.plan.scheduling import HOSTNAME, INSTANCE_TYPE, NODEPOOL_LABEL, ZONE, Taint

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
    flavors = world.plan.of(Flavor)
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
        nodes = tuple(_nodes(pool, instance, count, world, of_pool, assumed))
        zone = (pool.zones or ("",))[0]
        names = tuple(flavor.name for flavor in of_pool)
        found.append(PoolNodes(pool.title, zone, nodes, most is not None, names))
    return found


def empty_flavors(pools: Sequence[PoolNodes]) -> frozenset[str]:
    """The flavors of which all pools have no nodes."""
    with_nodes = {flavor for pool in pools if pool.nodes for flavor in pool.flavors}
    return frozenset(flavor for pool in pools for flavor in pool.flavors) - with_nodes


def _nodes(
    pool: Pool,
    instance: InstanceType,
    count: int,
    world: Reading,
    flavors: Sequence[Flavor],
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
    for level in _levels(world, topologies):
        if level not in labels and level != HOSTNAME:
            labels[level] = f"one of {pool.name}"
            assumed.levels.add(level)
    room = _room(pool, instance, world)
    taints = tuple(map(_taint, pool.taints))
    width = len(str(count))
    for index in range(count):
        name = f"{pool.name}-{index:0{width}}"
        yield Node(name, {**labels, HOSTNAME: name}, taints, room)


def _levels(world: Reading, topologies: set[str]) -> Iterator[str]:
    for body in (manifest.body for manifest in world.manifests):
        if body.get("kind") == "Topology" and body["metadata"]["name"] in topologies:
            for level in body["spec"]["levels"]:
                yield str(level["nodeLabel"])


def _taint(taint: Taint) -> Mapping[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


def _room(pool: Pool, instance: InstanceType, world: Reading) -> Mapping[str, int]:
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
