"""OpenCost: the prices that it counts with."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPrices(PlanItem):
    """A ConfigMap with the prices of OpenCost, in USD an hour: ``types`` of a node by its instance type, ``pools`` of a
    node by its pool, where that has a price of its own, ``volumes`` of a GiB by its StorageClass ("": of volumes
    without one)."""

    name: str
    namespace: str
    region: str
    types: Mapping[str, float]
    pools: Mapping[str, float]
    volumes: Mapping[str, float]
