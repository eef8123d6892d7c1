"""One of the places where all pods of a job may land together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from trainyard.catalog import InstanceType
from trainyard.core.pools.plan import Pool
from trainyard.eks.kueue.plan import Flavor
from trainyard.language.dataclass import dataclass
from trainyard.plan.scheduling import Toleration

Offer = tuple[Pool, InstanceType]
"""A pool, and a type of which its next node may be."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Where all pods of a job land together: the pools, by which flavor, and the tolerations that flavors add.

    ``flavor`` is ``None`` without a queue, or where the queue's flavors are unknown. ``labels`` are those that the
    nodes must have: the job's node selector with the labels of the flavors. ``offers`` is each pool with each of its
    types that has them; () is unknown.
    """

    pools: tuple[Pool, ...]
    flavor: Flavor | None = None
    tolerations: tuple[Toleration, ...] = ()
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    offers: tuple[Offer, ...] = ()

    def has(self, pool: Pool) -> bool:
        """Whether a pool is one of those where the pods may land."""
        return any(other is pool for other in self.pools)
