"""Whether gangs fit into blocks of nodes without lying across two: by one placement, or by every one.

Kueue places gangs one by one, each in the block that it fits best at the level that it prefers, and moves none later
(kueue v0.19.2, tas_flavor_snapshot.go): a placement that exists may not be the one that comes about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import comb, prod

from compiler.model.reading import Reading
from compiler.model.work import Work
from compiler.subjects.queues.plan import Flavor, Topology

Sizes = tuple[int, ...]
_MOST = 20_000  # states that are looked at; beyond that nothing is said


def blocks_of(flavor: Flavor, world: Reading) -> dict[str, int]:
    """The nodes of each block of a flavor, by the value of the widest level of its topology; nothing where some pool
    does not say its value, or how many nodes it has."""
    topology = next(
        (each for each in world.plan.of(Topology) if each.name == flavor.topology), None
    )
    if topology is None or not topology.levels:
        return {}
    found: dict[str, int] = {}
    for pool in world.pools_of(flavor):
        values = pool.values(topology.levels[0])
        sizes = [world.most_nodes(pool, each) for each in world.types(pool)]
        if (
            values is None
            or len(values) != 1
            or not sizes
            or any(size is None for size in sizes)
        ):
            return {}
        found[values[0]] = found.get(values[0], 0) + max(
            size for size in sizes if size is not None
        )
    return found


def gangs_of(flavor: Flavor, world: Reading) -> list[Work]:
    """The jobs that may only run on a flavor, the largest first."""
    found = [work for work in world.works if work.nodes and _lands(work, flavor)]
    return sorted(found, key=lambda work: -(work.nodes or 0))


def _lands(work: Work, flavor: Flavor) -> bool:
    return bool(work.choices) and all(
        each.flavor is not None and each.flavor.name == flavor.name
        for each in work.choices
    )


def countable(blocks: Sequence[int], gangs: Sequence[int]) -> bool:
    """Whether there are few enough states to look at: how many gangs of each size wait, and are in each block."""
    counts = Counter(gangs).values()
    return prod(comb(count + len(blocks), len(blocks)) for count in counts) <= _MOST


def placement(blocks: Sequence[int], gangs: Sequence[int]) -> Sizes | None:
    """A block for each gang, by its index, so that none lies across two; ``None`` where there is no such placement."""

    @cache
    def place(free: Sizes, index: int) -> Sizes | None:
        if index == len(gangs):
            return ()
        for block, room in enumerate(free):
            if room >= gangs[index] and room not in free[:block]:
                rest = place(
                    (*free[:block], room - gangs[index], *free[block + 1 :]), index + 1
                )
                if rest is not None:
                    return (block, *rest)
        return None

    return place(tuple(blocks), 0)


def always_fit(blocks: Sequence[int], gangs: Sequence[int]) -> bool:
    """Whether no gang ever lies across two blocks, in whatever order they come and whichever block each takes."""

    @cache
    def fit(free: Sizes, left: Sizes) -> bool:
        for gang in set(left):
            roomy = {room for room in free if room >= gang}
            rest = _less(left, gang)
            if not roomy or not all(
                fit(tuple(sorted((*_less(free, room), room - gang))), rest)
                for room in roomy
            ):
                return False
        return True

    return fit(tuple(sorted(blocks)), tuple(sorted(gangs)))


def _less(sizes: Sizes, size: int) -> Sizes:
    index = sizes.index(size)
    return (*sizes[:index], *sizes[index + 1 :])
