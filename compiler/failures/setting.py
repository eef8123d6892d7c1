"""The cluster in which jobs fail."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.catalog import Catalog
from compiler.core.pools.plan import Pool
from compiler.core.pools.spec import NodePool, PoolsSection
from compiler.dataclass import dataclass
from compiler.plan import Plan
from compiler.spec.cluster import ClusterSpec


@dataclass(frozen=True, slots=True)
class Setting:
    """A cluster: its spec, its plan, and all ``pools`` of it, node groups among them."""

    spec: ClusterSpec
    plan: Plan
    catalog: Catalog
    pools: Sequence[Pool]

    def pool(self, name: str) -> NodePool | None:
        """The pool of a name, as the spec has it."""
        pools = PoolsSection.of(self.spec).node_pools
        return next((pool for pool in pools if pool.name == name), None)

    def is_block(self, name: str) -> bool:
        """Whether the nodes of a pool are of a Capacity Block."""
        pool = self.pool(name)
        return pool is not None and pool.block is not None
