"""Whether a job fits: into a node, a pool, a queue. Shared by rules, so that one mistake is told once.

Of a job that is too large for a node, only that is told; of one too large for its pool, not that its queue (whose quota
is the pool's) is too small as well; and so forth.
"""

from __future__ import annotations

from compiler.catalog import HUGE_PAGES_MIB, InstanceType, allocatable
from compiler.plan import Quantity
from compiler.plan.jobs import EFA, HUGEPAGES
from compiler.plan.nodes import NodePool
from compiler.plan.queues import ClusterQueue, FlavorQuotas
from compiler.policy.work import Work
from compiler.policy.world import World

Room = tuple[int, int, tuple[str, ...]]
Lack = tuple[str, Quantity, Quantity]


def node_room(instance: InstanceType, world: World, *, huge_pages: bool) -> Room:
    """Milli-CPU and MiB for pods on a type, and what was taken before. Kept by type: every job asks again."""
    found: Room | None = world.rooms.get((instance.name, huge_pages))
    if found is None:
        left = allocatable(instance, huge_pages=huge_pages)
        notes = tuple(f"{each.what}: {', '.join(each.amounts)}" for each in left.steps)
        found = world.rooms[instance.name, huge_pages] = left.cpu_milli, left.memory_mib, notes
    return found


def over_node(work: Work, world: World) -> bool:
    """Whether a node of the job asks for more than any node of its pools has."""
    if not work.types:
        return False
    rooms = [node_room(each, world, huge_pages=HUGEPAGES in work.asks) for each in work.types]
    cpu, memory, pages = (work.asks.get(each, Quantity(0)) for each in ("cpu", "memory", HUGEPAGES))
    asked = work.accelerator
    devices = max(each.accelerators for each in work.types)
    efa = max((world.efa_of(pool, each) for pool in work.pools for each in world.types(pool)), default=0)
    return (
        cpu.milli > max(each[0] for each in rooms) or memory > Quantity.mib(max(each[1] for each in rooms))
        or pages > Quantity.mib(HUGE_PAGES_MIB) or work.efa > efa or (asked is not None and asked[1] > devices)
    )


def pool_room(work: Work, world: World) -> int | None:
    """How many nodes of the job there is room for at once: the pools of a flavor together, the best flavor; ``None``
    is unknown."""
    rooms = [_rooms(work, choice.pools, world) for choice in work.choices]
    known = [each for each in rooms if each is not None]
    return max(known) if known and len(known) == len(rooms) else None


def _rooms(work: Work, pools: tuple[NodePool, ...], world: World) -> int | None:
    found = [[_room(work, pool, each, world) for each in world.types(pool)] for pool in pools]
    if not all(found) or any(room is None for rooms in found for room in rooms):
        return None
    return sum(max(room for room in rooms if room is not None) for rooms in found)


def _room(work: Work, pool: NodePool, instance: InstanceType, world: World) -> int | None:
    nodes, each = world.most_nodes(pool, instance), pods_of_node(work, pool, instance, world)
    return None if nodes is None or each is None else nodes * each


def pods_of_node(work: Work, pool: NodePool, instance: InstanceType, world: World) -> int | None:
    """How many of the job's pods a node can hold, DaemonSets left out; ``None`` if the job asks for nothing that
    counts."""
    cpu, memory, _ = node_room(instance, world, huge_pages=HUGEPAGES in work.asks)
    has = {"cpu": cpu, "memory": memory * 1024**2 * 1000, EFA: world.efa_of(pool, instance) * 1000}
    if work.accelerator is not None:
        resource = work.accelerator[0]
        has[resource] = instance.accelerators * 1000 if instance.accelerator_resource == resource else 0
    found = [amount // work.asks[name].milli for name, amount in has.items() if work.asks.get(name)]
    return min(found) if found else None


def over_pool(work: Work, world: World) -> bool:
    """Whether the job needs more nodes than its pools have room for."""
    room = pool_room(work, world)
    return room is not None and work.nodes is not None and work.nodes > room


def queue_lack(work: Work, world: World) -> Lack | None:
    """What the job's queue can never admit: the resource, what the job asks, the most there is."""
    queue = work.queue
    if queue is None or work.nodes is None:
        return None
    for group in queue.groups:
        lacks = [_lack(work, work.nodes, queue, each, world) for each in group.flavors]
        known = [each for each in lacks if each is not None]
        if known and len(known) == len(lacks):
            return min(known, key=lambda each: each[1].milli - each[2].milli)
    return None


def _lack(work: Work, nodes: int, queue: ClusterQueue, flavor: FlavorQuotas, world: World) -> Lack | None:
    """What a flavor lacks for the job, devices first; ``None`` if nothing, or if that is unknown."""
    found: Lack | None = None
    for quota in flavor.quotas:
        asked = work.asks.get(quota.resource)
        if asked is None or asked.milli * nodes <= quota.nominal.milli:
            continue
        most = world.borrowable(queue, flavor.flavor, quota.resource)
        if most is not None and asked.milli * nodes > most.milli and (found is None or "/" in quota.resource):
            found = quota.resource, asked * nodes, most
    return found
