"""The Capacity Blocks that jobs run in, and whether the order of jobs may decide what becomes of them."""

from __future__ import annotations

from compiler.core.pools.plan import CapacityWindow
from compiler.model.contention import contended
from compiler.model.reading import Reading
from compiler.model.work import Work


def blocks_of(work: Work, world: Reading) -> list[CapacityWindow]:
    """The blocks of a job that runs in blocks alone; none where it may run elsewhere, or nothing is said of when one
    begins and ends."""
    known = {block.name: block for block in world.plan.of(CapacityWindow)}
    if not known:
        return []
    found = [known.get(title) for title in {pool.title for pool in work.pools}]
    blocks = [block for block in found if block is not None and block.length is not None]
    if len(blocks) < len(found):
        return []
    return sorted(blocks, key=lambda block: block.name)


def order_matters(world: Reading) -> bool:
    """Whether jobs may wait while a block runs out: a bound that needs no simulation.

    Without a block whose time is known nothing closes, and where all jobs are admitted at once, each in the only pool
    that it may land on, none waits.
    """
    blocks = world.plan.of(CapacityWindow)
    if not any(block.length is not None for block in blocks):
        return False
    several = any(len({pool.title for pool in work.pools}) > 1 for work in world.works)
    return several or world.once(contended)
