"""A cluster as it is planned: what platforms are asked about, once there is a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from datetime import date

from trainyard.catalog import Catalog
from trainyard.core.pools.plan import Pool
from trainyard.core.pools.spec import NodePool, PoolsSection
from trainyard.language.dataclass import dataclass
from trainyard.language.models.cluster import ClusterSpec
from trainyard.plan import Plan


@dataclass(frozen=True, slots=True)
class PlannedCluster:
    """A cluster: its spec, its plan, the pools of the plan with node groups among them, and ``today`` where it is
    known."""

    spec: ClusterSpec
    plan: Plan
    catalog: Catalog
    planned_pools: Sequence[Pool]
    today: date | None = field(default=None, kw_only=True)

    def pools(self) -> Sequence[NodePool]:
        """The pools as the spec has them."""
        return PoolsSection.of(self.spec).node_pools

    def pool(self, name: str) -> NodePool | None:
        """The pool of a name, as the spec has it."""
        for pool in self.pools():
            if pool.name == name:
                return pool
        return None

    def is_block(self, name: str) -> bool:
        """Whether the nodes of a pool are of a Capacity Block."""
        pool = self.pool(name)
        return pool is not None and pool.block is not None

    def node_pools(self, name: str) -> Iterator[Pool]:
        """What a pool of the spec is made of: a pool of the platform, or one for each reservation or queue."""
        for pool in self.planned_pools:
            if name in (pool.name, pool.title):
                yield pool
