"""Plan items that keep controllers running while nodes are replaced."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptionBudget(PlanItem):
    """policy/v1 PodDisruptionBudget: how many pods with all these labels stay while nodes are drained."""

    name: str
    namespace: str
    pods: Mapping[str, str]
    available: int
