"""Whether gangs fit into network blocks without spanning two: in one placement, or in every placement.

Kueue places gangs one by one, each in the block that it fits best at the level that it prefers, and moves none later
(kueue v0.19.2, tas_flavor_snapshot.go): a placement that exists may not be the one that comes about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import comb

from trainyard.core.pools.plan import Pool
from trainyard.eks.kueue.plan import Flavor, Topology
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work

Sizes = tuple[int, ...]
# With more states to search nothing is reported.
_MOST_STATES = 20_000


def blocks_of(flavor: Flavor, world: Reading) -> dict[str, int]:
    """The nodes of each block of a flavor, by the value of the widest level of its topology; nothing where some pool
    does not say its value, or how many nodes it has."""
    known = world.plan.of(Topology)
    topologies = {topology.name: topology for topology in known}
    topology = topologies.get(flavor.topology or "")
    if topology is None or not topology.levels:
        return {}
    blocks: Counter[str] = Counter()
    for pool in world.pools_of(flavor):
        values = pool.values(topology.levels[0])
        nodes = _most_nodes(pool, world)
        if nodes is None or values is None:
            return {}
        if len(values) != 1:
            return {}
        blocks[values[0]] += nodes
    return dict(blocks)


def _most_nodes(pool: Pool, world: Reading) -> int | None:
    """The most nodes of a pool, of whichever of its types; ``None`` where that of one is unknown."""
    types = world.types(pool)
    sizes = [world.most_nodes(pool, instance) for instance in types]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    return max(known, default=None)


def gangs_of(flavor: Flavor, world: Reading) -> list[Work]:
    """The jobs that may only run on a flavor, the largest first."""
    sized = [work for work in world.works if work.nodes]
    gangs = [work for work in sized if _runs_only_on(work, flavor)]
    return sorted(gangs, key=lambda work: work.nodes or 0, reverse=True)


def _runs_only_on(work: Work, flavor: Flavor) -> bool:
    for choice in work.choices:
        if choice.flavor is None:
            return False
        if choice.flavor.name != flavor.name:
            return False
    return bool(work.choices)


def countable(blocks: Sequence[int], gangs: Sequence[int]) -> bool:
    """Whether there are few enough states to search: how many gangs of each size wait, and are in each block."""
    states = 1
    for count in Counter(gangs).values():
        together = count + len(blocks)
        states *= comb(together, len(blocks))
    return states <= _MOST_STATES


def placement(blocks: Sequence[int], gangs: Sequence[int]) -> Sizes | None:
    """A block for each gang, by its index, so that none spans two; ``None`` without such a placement."""

    @cache
    def place(free: Sizes, index: int) -> Sizes | None:
        if index == len(gangs):
            return ()
        gang = gangs[index]
        for block, room in enumerate(free):
            if room < gang or room in free[:block]:
                continue  # too small, or as large as a block that was tried
            left = (*free[:block], room - gang, *free[block + 1 :])
            rest = place(left, index + 1)
            if rest is not None:
                return (block, *rest)
        return None

    return place(tuple(blocks), 0)


def always_fit(blocks: Sequence[int], gangs: Sequence[int]) -> bool:
    """Whether no gang ever spans two blocks, in any order of arrival and any choice of blocks."""

    @cache
    def fit(free: Sizes, left: Sizes) -> bool:
        for gang in set(left):
            waiting = _without(left, gang)
            roomy = {room for room in free if room >= gang}
            if not roomy:
                return False
            for room in roomy:
                sizes = sorted((*_without(free, room), room - gang))
                if not fit(tuple(sizes), waiting):
                    return False
        return True

    free = tuple(sorted(blocks))
    return fit(free, tuple(sorted(gangs)))


def _without(sizes: Sizes, size: int) -> Sizes:
    """The sizes without one of this size."""
    index = sizes.index(size)
    before = sizes[:index]
    after = sizes[index + 1 :]
    return (*before, *after)
