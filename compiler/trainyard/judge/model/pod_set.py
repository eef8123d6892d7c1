"""Pods of a job that are alike."""

from __future__ import annotations

from trainyard.core.pods.plan import Pod, Resources
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of a job that are alike, which Kueue admits together with those of its other sets (workload.spec.podSets).
    ``asks`` is what one of them requests; ``pod`` is ``None`` while the runtime is unknown. It may start with the
    ``least`` of them, where that is said. ``initializes``: they end before the others start."""

    name: str
    count: int
    pod: Pod | None
    asks: Resources
    least: int | None = None
    initializes: bool = False

    @property
    def fewest(self) -> int:
        """How many of them there are in any case."""
        return self.count if self.least is None else min(self.count, self.least)
