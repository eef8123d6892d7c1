"""Kueue's Topologies: one for each way in which pools place gangs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.core.pools.pools import Pool
from trainyard.core.pools.topology import levels, topology_name
from trainyard.eks.kueue.plan import Topology
from trainyard.plan.context import SPEC


def topologies(pools: Iterable[Pool]) -> Iterator[Topology]:
    """Each topology that some pool has, its levels widest first, down to the host."""
    names = {topology_name(pool) for pool in pools}
    for name in sorted(name for name in names if name is not None):
        yield Topology(at=SPEC / "nodePools", name=name, levels=levels(name))
