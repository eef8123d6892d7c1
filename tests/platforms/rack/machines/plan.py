"""Machines of a pool."""

from __future__ import annotations

from trainyard.core.pools.plan import FixedPool
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines(FixedPool):
    """The machines of a pool, all of one type."""
