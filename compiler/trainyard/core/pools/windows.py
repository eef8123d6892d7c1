"""When the nodes of a Capacity Block exist."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from trainyard.core.pools.plan import CapacityWindow

if TYPE_CHECKING:
    from trainyard.core.pools.pools import Pool


def window(pool: Pool) -> CapacityWindow | None:
    """When the nodes of a pool exist; ``None`` where it is no Capacity Block, or nothing is said of its time."""
    block = pool.spec.block
    if block is None or (block.starts is None and block.ends is None):
        return None
    return CapacityWindow(
        at=pool.at_capacity,
        name=pool.name,
        starts=_seconds(block.starts),
        ends=_seconds(block.ends),
        notice=pool.launcher.block_notice.seconds,
    )


def _seconds(moment: str | None) -> int | None:
    """A timestamp in seconds since 1970."""
    if moment is None:
        return None
    return int(datetime.fromisoformat(moment).timestamp())
