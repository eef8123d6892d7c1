"""Whether a job fits: into a node, a pool, a queue. Shared by rules, so that one mistake is told once.

Of a job that is too large for a node, only that is told; of one too large for its pool, not that its queue (whose quota
is the pool's) is too small as well; and so forth.
"""

from __future__ import annotations

from compiler.catalog import (
    GUIDE_HUGE_PAGES_MIB,
    InstanceType,
    allocatable,
    huge_pages_mib,
)
from compiler.manifest import placeholder
from compiler.model.offers import GroupPool
from compiler.model.reading import Reading
from compiler.model.work import Choice, Work
from compiler.plan import Quantity
from compiler.subjects.jobs.plan import ACCELERATORS, EFA, HUGEPAGES, INITIALIZERS
from compiler.subjects.namespaces.plan import Namespace
from compiler.subjects.pools.plan import NodePool
from compiler.subjects.queues.plan import (
    ClusterQueue,
    Flavor,
    FlavorQuotas,
    Quota,
    ResourceGroup,
)

NAMESPACE_NAME = "kubernetes.io/metadata.name"
Room = tuple[int, int, tuple[str, ...]]
Lack = tuple[Quota, Quantity, Quantity]


def node_room(
    pool: NodePool, instance: InstanceType, world: Reading, *, huge_pages: bool
) -> Room:
    """Milli-CPU and MiB for pods on a pool's node of a type, and what was taken before: all of the machine where the
    pool configures its kubelet. Karpenter's overhead is no matter of node groups. Kept, since every job asks again.

    A pod must fit twice: where Karpenter expects it, with the overhead, and on the node, with the huge pages. Karpenter
    takes both off where an overlay says the pages.
    """
    if world.own_kubelet(pool):
        return instance.vcpus * 1000, instance.memory_mib, ()
    overhead = 0 if isinstance(pool, GroupPool) else world.memory_overhead
    key = instance.name, huge_pages, overhead
    if key not in world.rooms:
        views = (
            [(huge_pages, overhead)]
            if world.huge_pages_told
            else [(False, overhead), (huge_pages, 0)]
        )
        world.rooms[key] = min(
            (_room_of(instance, *view) for view in views), key=lambda room: room[1]
        )
    return world.rooms[key]


def _room_of(instance: InstanceType, huge_pages: bool, overhead: float) -> Room:
    left = allocatable(instance, huge_pages=huge_pages, vm_overhead=overhead)
    notes = tuple(f"{each.what}: {', '.join(each.amounts)}" for each in left.steps)
    return left.cpu_milli, left.memory_mib, notes


def over_node(work: Work, world: Reading) -> bool:
    """Whether a node of the job asks for more than any node of its pools has."""
    if not work.types:
        return False
    rooms = [
        node_room(*each, world, huge_pages=HUGEPAGES in work.asks)
        for each in work.offers
    ]
    cpu, memory = (work.asks.get(each, Quantity(0)) for each in ("cpu", "memory"))
    asked = work.accelerator
    devices = max(each.accelerators for each in work.types)
    efa = max(world.efa_of(*each) for each in work.offers)
    return (
        cpu.milli > max(each[0] for each in rooms)
        or memory > Quantity.mib(max(each[1] for each in rooms))
        or over_huge_pages(work, world)
        or work.efa > efa
        or (asked is not None and asked[1] > devices)
    )


def over_huge_pages(work: Work, world: Reading) -> bool:
    """Whether a node of the job certainly asks for more huge pages than there are: more than measurement and guide
    say."""
    return short_of_huge_pages(work, world) and work.asks[HUGEPAGES] > Quantity.mib(
        GUIDE_HUGE_PAGES_MIB
    )


def short_of_huge_pages(work: Work, world: Reading) -> bool:
    """Whether a node of the job asks for more huge pages than EFA's script sets aside."""
    pages, most = work.asks.get(HUGEPAGES), huge_pages(work, world)
    return pages is not None and most is not None and pages > most


def huge_pages(work: Work, world: Reading) -> Quantity | None:
    """The huge pages that EFA's script sets aside on the largest node of the job, which nobody else does; ``None`` is
    unknown, and where a node configures its system by itself."""
    if not work.types or any(world.own_kubelet(each) for each in work.pools):
        return None
    return Quantity.mib(max(huge_pages_mib(each) for each in work.types))


def pool_room(work: Work, world: Reading) -> int | None:
    """How many nodes of the job there is room for at once: the pools of a flavor together, the best flavor; ``None``
    is unknown."""
    rooms = [_rooms(work, choice, world) for choice in work.choices]
    known = [each for each in rooms if each is not None]
    return max(known) if known and len(known) == len(rooms) else None


def _rooms(work: Work, choice: Choice, world: Reading) -> int | None:
    found = rooms(work, choice, world)
    if not found:
        return None
    return max(sum(found.values()) - _shut(work, choice, world), 0)


def _shut(work: Work, choice: Choice, world: Reading) -> int:
    """The room on nodes that the job itself excludes, each of which is taken for one of its pool's."""
    hosts = len(work.pod.excluded_nodes) if work.pod is not None else 0
    if not hosts:
        return 0
    held = [pods_of_node(work, *offer, world) or 0 for offer in choice.offers]
    return hosts * max(held)


def rooms(work: Work, choice: Choice, world: Reading) -> dict[str, int] | None:
    """How many nodes of the job each pool of a choice has room for, by its name; ``None`` is unknown."""
    found: dict[str, int] = {}
    for pool, instance in choice.offers:
        room = _room(work, pool, instance, world)
        if room is None:
            return None
        found[pool.name] = max(room, found.get(pool.name, 0))
    return found


def _room(
    work: Work, pool: NodePool, instance: InstanceType, world: Reading
) -> int | None:
    nodes, each = (
        world.most_nodes(pool, instance),
        pods_of_node(work, pool, instance, world),
    )
    return None if nodes is None or each is None else nodes * each


def pods_of_node(
    work: Work, pool: NodePool, instance: InstanceType, world: Reading
) -> int | None:
    """How many of the job's pods a node can hold, DaemonSets left out; ``None`` if the job asks for nothing that
    counts."""
    cpu, memory, _ = node_room(pool, instance, world, huge_pages=HUGEPAGES in work.asks)
    has = {
        "cpu": cpu,
        "memory": memory * 1024**2 * 1000,
        EFA: world.efa_of(pool, instance) * 1000,
    }
    if work.accelerator is not None:
        resource = work.accelerator[0]
        has[resource] = (
            instance.accelerators * 1000
            if instance.accelerator_resource == resource
            else 0
        )
    found = [
        amount // work.asks[name].milli
        for name, amount in has.items()
        if work.asks.get(name)
    ]
    return min(found) if found else None


def over_pool(work: Work, world: Reading) -> bool:
    """Whether the job needs more nodes than its pools have room for."""
    room = pool_room(work, world)
    return room is not None and work.nodes is not None and work.nodes > room


def queue_lack(work: Work, world: Reading) -> Lack | None:
    """What the job's queue can never admit: the quota, what the job asks, the most there is."""
    queue = work.queue
    if queue is None or work.nodes is None:
        return None
    landing = {each.flavor.name for each in work.choices if each.flavor is not None}
    for group in queue.groups:
        lacks = {
            each.flavor: _lack(work, work.nodes, queue, each, world)
            for each in open_to(work, group, world)
        }
        known = [each for each in lacks.values() if each is not None]
        if known and len(known) == len(lacks):
            large = [
                each
                for flavor, each in lacks.items()
                if flavor in landing and each is not None
            ]
            return min(large or known, key=lambda each: each[1].milli - each[2].milli)
    return None


def turned_away(work: Work, world: Reading) -> str:
    """The label by which the job's queue takes nothing from its namespace; nothing if it may."""
    queue, namespace = work.queue, work.job.namespace
    if (
        queue is None
        or not queue.namespace_selector
        or not namespace
        or placeholder(namespace)
    ):
        return ""
    here = next(
        (each for each in world.plan.of(Namespace) if each.name == namespace), None
    )
    labels = {**(here.labels if here else {}), NAMESPACE_NAME: namespace}
    for key, wanted in queue.namespace_selector.items():
        known, value = key in labels or here is not None, labels.get(key)
        if any(map(placeholder, wanted)):
            continue
        if (
            wanted and known and value not in wanted
        ) or value in queue.namespaces_excluded.get(key, ()):
            return key
    return ""


def not_offered(pool: NodePool, world: Reading) -> bool:
    """Whether EC2 is known to offer none of a pool's types in any of its zones."""
    zones, types = pool.zones, world.types(pool)
    if (
        not zones
        or not types
        or any(zone not in world.catalog.regions.get(zone[:-1], ()) for zone in zones)
    ):
        return False
    return all(
        each.zones and not {*each.zones.get(zones[0][:-1], ())} & {*zones}
        for each in types
    )


def open_to(work: Work, group: ResourceGroup, world: Reading) -> list[FlavorQuotas]:
    """The flavors of a group that the job's node selector leaves: Kueue holds it against their labels, for the keys
    that some flavor of the group has (kueue v0.19.2, flavorassigner). One that is unknown stays."""
    known = {
        each.flavor: world.plan.named(Flavor, each.flavor) for each in group.flavors
    }
    keys = {
        key for each in known.values() if each is not None for key in each.node_labels
    }
    wanted = {
        key: value
        for key, value in work.selector.items()
        if key in keys and not placeholder(value)
    }
    return [
        each
        for each in group.flavors
        if (flavor := known[each.flavor]) is None
        or all(
            placeholder(has := flavor.node_labels.get(key, "")) or has == wanted[key]
            for key in wanted
        )
    ]


def _together(work: Work, nodes: int, asked: Quantity, resource: str) -> Quantity:
    """What all pods of a job ask for: Kueue counts initializers beside the nodes (kueue v0.19.2, trainjob: the pod sets
    of the whole JobSet)."""
    pods = (
        [each.pod for each in work.runtime.jobs if each.step in INITIALIZERS]
        if work.runtime
        else []
    )
    more = (
        each.requests.get(resource) or each.limits.get(resource)
        for pod in pods
        for each in pod.containers
    )
    return Quantity(asked.milli * nodes + sum(each.milli for each in more if each))


def _lack(
    work: Work, nodes: int, queue: ClusterQueue, flavor: FlavorQuotas, world: Reading
) -> Lack | None:
    """What a flavor lacks for the job, devices first; ``None`` if nothing, or if that is unknown."""
    found: list[Lack] = []
    for quota in flavor.quotas:
        asked = work.asks.get(quota.resource)
        if (
            asked is None
            or (total := _together(work, nodes, asked, quota.resource)) <= quota.nominal
        ):
            continue
        if quota.resource == HUGEPAGES and short_of_huge_pages(work, world):
            continue  # the quota is that of its nodes
        most = world.borrowable(queue, flavor.flavor, quota.resource)
        if most is not None and total > most:
            found.append((quota, total, most))
    first = (lambda name: name in ACCELERATORS), (lambda name: "/" in name), bool
    return next(
        (each for wanted in first for each in found if wanted(each[0].resource)), None
    )
