"""Whether a job fits: into a node, a pool, a queue. Shared by rules, so that one mistake is reported once.

Of a job that is too large for a node, only that is reported; of one too large for its pool, not that its queue (whose
quota is the pool's) is too small as well; and so forth.
"""

from __future__ import annotations

from typing import NamedTuple

from trainyard.catalog import GUIDE_HUGE_PAGES_MIB, InstanceType, allocatable, huge_pages_mib
from trainyard.core.pods.plan import ACCELERATORS, EFA, HUGEPAGES, Resources
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.core.queues.plan import FlavorQuotas, Queue, Quota, ResourceGroup
from trainyard.eks.kueue.plan import ClusterQueue, Flavor
from trainyard.eks.teams.plan import Namespace
from trainyard.judge.model.amounts import requested
from trainyard.judge.model.choice import Choice
from trainyard.judge.model.gangs import asked_by, pod_sets
from trainyard.judge.model.reading import Reading, Room
from trainyard.judge.model.work import Work
from trainyard.output.manifest import placeholder
from trainyard.plan import Quantity

NAMESPACE_NAME = "kubernetes.io/metadata.name"


class Shortfall(NamedTuple):
    """A quota that never covers a job: what the job asks, and the most that its queue can get."""

    quota: Quota
    asked: Quantity
    most: Quantity


def node_room(pool: Pool, instance: InstanceType, world: Reading, *, huge_pages: bool) -> Room:
    """The room for pods on a pool's node of a type: all that jobs get of the machine where it has its own kubelet.
    Karpenter's overhead is no matter of node groups. Cached, since every job asks again.

    A pod must fit twice: where Karpenter expects it, with the overhead, and on the node, with the huge pages. Karpenter
    takes both off where an overlay says the pages.
    """
    if isinstance(pool, FixedPool):
        instance = instance.booted(pool.threads)
    if world.own_kubelet(pool):
        return _whole_node(instance, pool.memory_percent if isinstance(pool, FixedPool) else 100)
    overhead = 0 if isinstance(pool, FixedPool) else world.memory_overhead
    key = instance.name, instance.vcpus, huge_pages, overhead
    if key not in world.rooms:
        world.rooms[key] = _node_room(instance, huge_pages, overhead, world)
    return world.rooms[key]


def _whole_node(instance: InstanceType, memory_percent: int) -> Room:
    kept = 100 - memory_percent
    notes = (f"{kept} % of the memory is kept for the system",) if kept else ()
    return Room(instance.vcpus * 1000, instance.memory_mib * memory_percent // 100, notes)


def _node_room(instance: InstanceType, huge_pages: bool, overhead: float, world: Reading) -> Room:
    if world.knows_huge_pages:
        return _allocatable(instance, huge_pages, overhead)
    expected = _allocatable(instance, False, overhead)
    real = _allocatable(instance, huge_pages, 0)
    return min(expected, real, key=lambda room: room.memory_mib)


def _allocatable(instance: InstanceType, huge_pages: bool, overhead: float) -> Room:
    left = allocatable(instance, huge_pages=huge_pages, vm_overhead=overhead)
    notes = []
    for step in left.steps:
        amounts = ", ".join(step.amounts)
        notes.append(f"{step.what}: {amounts}")
    return Room(left.cpu_milli, left.memory_mib, tuple(notes))


def too_large(work: Work, world: Reading) -> bool:
    """Whether a job needs more nodes than its pools may have, each of which is large enough."""
    return exceeds_pool(work, world) and not exceeds_node(work, world)


def too_large_on(pool: Pool, world: Reading) -> int:
    """How many jobs of a pool are too large for theirs: counted once, however many of them ask."""
    count = world.too_large.get(id(pool))
    if count is None:
        count = sum(too_large(work, world) for work in world.works_on(pool))
        world.too_large[id(pool)] = count
    return count


def exceeds_node(work: Work, world: Reading) -> bool:
    """Whether a node of the job asks for more than any node of its pools has."""
    if not work.types:
        return False
    pages = HUGEPAGES in work.asks
    rooms = [node_room(pool, instance, world, huge_pages=pages) for pool, instance in work.offers]
    asks = work.pod_asks
    cpu = asks.get("cpu", Quantity(0))
    if cpu.milli > max(room.cpu_milli for room in rooms):
        return True
    memory = asks.get("memory", Quantity(0))
    largest = max(room.memory_mib for room in rooms)
    if memory > Quantity.mib(largest):
        return True
    devices = [world.efa_of(pool, instance) for pool, instance in work.offers]
    if work.efa > max(devices):
        return True
    if work.accelerator is not None:
        resource, asked = work.accelerator
        if resource in asks:
            asked = asks[resource].value
        if asked > max(instance.accelerators for instance in work.types):
            return True
    return certainly_exceeds_huge_pages(work, world)


def asked_by_containers(work: Work, resource: str) -> dict[str, Quantity]:
    """What each container of a node's pod asks for, by its name; nothing while the pod is unknown."""
    amounts = {}
    for container in work.pod.all_containers if work.pod is not None else ():
        asks = work.asks if container is work.main else requested(container)
        if resource in asks:
            amounts[container.name] = asks[resource]
    return amounts


def certainly_exceeds_huge_pages(work: Work, world: Reading) -> bool:
    """Whether a node of the job asks for more huge pages than there are by measurement and by guide."""
    if not exceeds_huge_pages(work, world):
        return False
    most = Quantity.mib(GUIDE_HUGE_PAGES_MIB)
    return work.asks[HUGEPAGES] > most


def exceeds_huge_pages(work: Work, world: Reading) -> bool:
    """Whether a node of the job asks for more huge pages than EFA's script sets aside."""
    asked = work.asks.get(HUGEPAGES)
    most = huge_pages(work, world)
    if asked is None or most is None:
        return False
    return asked > most


def huge_pages(work: Work, world: Reading) -> Quantity | None:
    """The huge pages that EFA's script sets aside on the largest node of the job, which nobody else does; ``None`` is
    unknown, and where a node configures its system by itself."""
    if not work.types:
        return None
    if any(world.own_kubelet(pool) for pool in work.pools):
        return None
    most = max(huge_pages_mib(instance) for instance in work.types)
    return Quantity.mib(most)


def pool_room(work: Work, world: Reading) -> int | None:
    """How many nodes of the job there is room for at once: the pools of a flavor together, the best flavor; ``None``
    is unknown."""
    most = None
    for choice in work.choices:
        room = _choice_room(work, choice, world)
        if room is None:
            return None
        if most is None:
            most = room
        else:
            most = max(most, room)
    return most


def _choice_room(work: Work, choice: Choice, world: Reading) -> int | None:
    by_pool = room_by_pool(work, choice, world)
    if not by_pool:
        return None
    room = sum(by_pool.values())
    taken = _room_on_excluded(work, choice, world)
    return max(room - taken, 0)


def _room_on_excluded(work: Work, choice: Choice, world: Reading) -> int:
    """The room on nodes that the job itself excludes, each of which is taken for one of its pool's."""
    if work.pod is None or not work.pod.excluded_nodes:
        return 0
    per_node = [pods_of_node(work, pool, instance, world) or 0 for pool, instance in choice.offers]
    return len(work.pod.excluded_nodes) * max(per_node)


def room_by_pool(work: Work, choice: Choice, world: Reading) -> dict[str, int] | None:
    """How many nodes of the job each pool of a choice has room for, by its name; ``None`` is unknown."""
    by_pool: dict[str, int] = {}
    for pool, instance in choice.offers:
        nodes = world.most_nodes(pool, instance)
        per_node = pods_of_node(work, pool, instance, world)
        if nodes is None or per_node is None:
            return None
        known = by_pool.get(pool.name, 0)
        by_pool[pool.name] = max(nodes * per_node, known)
    return by_pool


def pods_of_node(work: Work, pool: Pool, instance: InstanceType, world: Reading) -> int | None:
    """How many of the job's pods a node can hold, DaemonSets left out; ``None`` if the job asks for nothing that
    counts."""
    room = node_room(pool, instance, world, huge_pages=HUGEPAGES in work.asks)
    capacity = {
        "cpu": Quantity(room.cpu_milli),
        "memory": Quantity.mib(room.memory_mib),
        EFA: Quantity.of(world.efa_of(pool, instance)),
    }
    if work.accelerator is not None:
        resource, _ = work.accelerator
        fits = instance.accelerator_resource == resource
        devices = instance.accelerators if fits else 0
        capacity[resource] = Quantity.of(devices)
    asks = work.pod_asks
    counts = []
    for name, amount in capacity.items():
        asked = asks.get(name)
        if asked:
            counts.append(amount.milli // asked.milli)
    return min(counts, default=None)


def exceeds_pool(work: Work, world: Reading) -> bool:
    """Whether the job needs more nodes than its pools have room for."""
    room = pool_room(work, world)
    if room is None or work.nodes is None:
        return False
    return work.nodes > room


def quota_shortfall(work: Work, world: Reading) -> Shortfall | None:
    """What the job's queue can never admit, for want of a quota in every flavor of some resource group."""
    if work.queue is None:
        return None
    asked = asked_by(pod_sets(work))
    if exceeds_huge_pages(work, world):  # their quota is that of its nodes
        asked = {name: amount for name, amount in asked.items() if name != HUGEPAGES}
    chosen = [choice.flavor for choice in work.choices]
    landing = {flavor.name for flavor in chosen if flavor}
    for group in work.queue.groups:
        shortfalls: list[Shortfall] = []
        of_pools: list[Shortfall] = []
        flavors = selectable_flavors(work, group, world)
        for flavor in flavors:
            shortfall = _flavor_shortfall(asked, work.queue, flavor, world)
            if shortfall is None:
                break
            shortfalls.append(shortfall)
            if flavor.flavor in landing:
                of_pools.append(shortfall)
        if shortfalls and len(shortfalls) == len(flavors):
            return min(of_pools or shortfalls, key=_missing)
    return None


def _missing(shortfall: Shortfall) -> int:
    return shortfall.asked.milli - shortfall.most.milli


def excluding_namespace_label(work: Work, world: Reading) -> str:
    """The label by which the job's queue takes nothing from its namespace; nothing if it may."""
    queue = work.queue
    name = work.job.namespace
    if not isinstance(queue, ClusterQueue) or not queue.namespace_selector:
        return ""
    if not name or placeholder(name):
        return ""
    namespace = world.plan.named(Namespace, name)
    if namespace is not None:
        written = namespace.labels
    else:
        written = {}
    labels = {**written, NAMESPACE_NAME: name}
    for key, wanted in queue.namespace_selector.items():
        if any(map(placeholder, wanted)):
            continue
        value = labels.get(key)
        known = namespace is not None or key in labels
        if wanted and known and value not in wanted:
            return key
        if value in queue.namespaces_excluded.get(key, ()):
            return key
    return ""


def not_offered(pool: Pool, world: Reading) -> bool:
    """Whether EC2 is known to offer none of a pool's types in any of its zones."""
    zones = pool.zones
    types = world.types(pool)
    if not zones or not types:
        return False
    regions = world.catalog.regions
    for zone in zones:
        region = zone[:-1]
        if zone not in regions.get(region, ()):
            return False
    region = zones[0][:-1]
    for instance in types:
        if not instance.zones:
            return False
        offered = instance.zones.get(region, ())
        if not set(zones).isdisjoint(offered):
            return False
    return True


def selectable_flavors(work: Work, group: ResourceGroup, world: Reading) -> list[FlavorQuotas]:
    """The flavors of a group that the job's node selector leaves: Kueue holds it against their labels, for the keys
    that some flavor of the group has (kueue v0.19.2, flavorassigner). One that is unknown stays."""
    names = [quotas.flavor for quotas in group.flavors]
    flavors = [world.plan.named(Flavor, name) for name in names]
    keys: set[str] = set()
    for flavor in flavors:
        if flavor is not None:
            keys.update(flavor.node_labels)
    wanted = {
        key: value for key, value in work.selector.items() if key in keys and not placeholder(value)
    }
    pairs = zip(group.flavors, flavors, strict=True)
    return [quotas for quotas, flavor in pairs if _may_select(flavor, wanted)]


def _may_select(flavor: Flavor | None, wanted: dict[str, str]) -> bool:
    """Whether nothing says that a flavor lacks the labels of a selector."""
    if flavor is None:
        return True
    for key, value in wanted.items():
        label = flavor.node_labels.get(key, "")
        if label != value and not placeholder(label):
            return False
    return True


def _flavor_shortfall(
    asked: Resources, queue: Queue, flavor: FlavorQuotas, world: Reading
) -> Shortfall | None:
    """What a flavor lacks for the job, devices first; ``None`` if nothing, or if that is unknown."""
    shortfalls: list[Shortfall] = []
    for quota in flavor.quotas:
        amount = asked.get(quota.resource)
        if amount is None or amount <= quota.nominal:
            continue
        most = world.cohorts.borrowable(queue, flavor.flavor, quota.resource)
        if most is not None and amount > most:
            shortfalls.append(Shortfall(quota, amount, most))
    return min(shortfalls, key=_device_order, default=None)


def _device_order(shortfall: Shortfall) -> int:
    """Accelerators first, then other extended resources."""
    resource = shortfall.quota.resource
    if resource in ACCELERATORS:
        return 0
    return 1 if "/" in resource else 2
