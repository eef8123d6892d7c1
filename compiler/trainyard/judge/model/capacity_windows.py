"""The Capacity Blocks that jobs run in, and whether the order of jobs may decide what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import NamedTuple

from trainyard.core.pools.plan import CapacityWindow
from trainyard.eks.nodes.plan import BLOCK_ENDS, NodeClass
from trainyard.judge.model.contention import contended
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work
from trainyard.language.places import Route
from trainyard.plan import Plan


class BlockEnd(NamedTuple):
    """The day on which a Capacity Block ends, what has it, and where that is said."""

    name: str
    day: date
    at: Route


def block_ends(plan: Plan) -> Iterator[BlockEnd]:
    """When the Capacity Blocks of a spec's pools end; of files that are read alone, those that node classes say."""
    if plan.closed:
        for window in plan.of(CapacityWindow):
            if window.ends is not None:
                day = datetime.fromtimestamp(window.ends, UTC).date()
                yield BlockEnd(window.name, day, window.at / "ends")
        return
    for node_class in plan.of(NodeClass):
        said = node_class.annotations.get(BLOCK_ENDS, "").partition("T")[0]
        try:
            day = date.fromisoformat(said)
        except ValueError:
            continue
        at = node_class.at / "metadata" / "annotations" / BLOCK_ENDS
        yield BlockEnd(node_class.name, day, at)


def blocks_of(work: Work, world: Reading) -> list[CapacityWindow]:
    """The blocks of a job that runs in blocks alone; none where it may run elsewhere, or nothing is said of when one
    begins and ends."""
    known = {block.name: block for block in world.plan.of(CapacityWindow)}
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
