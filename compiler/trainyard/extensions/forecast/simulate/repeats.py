"""Whether jobs preempt each other without an end.

That is so in Kueue too: what a job has preempted others for may be taken by the head of another queue, since the
feature gate ``PrioritizePreemptorWorkloads`` is off in 0.19.2 (pkg/features/kube_features.go). All that a cycle decides
follows from what is admitted and what waits, so where that was the same before, everything from then on repeats.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import groupby

from trainyard.extensions.forecast.simulate.lines import Lines
from trainyard.extensions.forecast.simulate.state import Progress, State, Work


class Repeats:
    """The states that were there. Nothing is compared before some job is preempted for the second time."""

    def __init__(self) -> None:
        self._periods: dict[Hashable, int] = {}
        self.begin()

    def begin(self) -> None:
        """Something happened, after which other states may follow; but where all repeated before, it does again."""
        self._preempted: set[str] = set()
        self._again = bool(self._periods)
        self._seen: dict[Hashable, int] = {}

    def preempted(self, key: str) -> None:
        """Remember that a job was preempted."""
        self._again = self._again or key in self._preempted
        self._preempted.add(key)

    def period(
        self, state: State, lines: Lines, queues: list[str], done: int, cycle: int, released: int
    ) -> int:
        """After how many steps the same happens again; 0 where that is not known. ``queues``: all that may change from
        now on; ``done``: the steps up to now."""
        if not self._again:
            return 0
        admitted = [work for name in queues for work in state.works[name].values()]
        waiting = [
            (work.key, _tried(work.progress, cycle, released)) for work in lines.waiting(queues)
        ]
        firsts = [lines.of[name].first for name in queues]
        picture = (tuple(queues), _ordered(admitted), tuple(sorted(waiting)), tuple(firsts))
        if picture not in self._periods and picture in self._seen:
            self._periods[picture] = done - self._seen[picture]
        self._seen[picture] = done
        return self._periods.get(picture, 0)


def _ordered(admitted: list[Work]) -> Hashable:
    """What is admitted, with its places, in the order in which it got its quota."""
    admitted.sort(key=lambda work: (work.reserved, work.key))
    rounds = groupby(admitted, key=lambda work: work.reserved)
    return tuple(tuple(_has(work) for work in together) for _, together in rounds)


def _has(work: Work) -> Hashable:
    usage = tuple(work.usage().items())
    places = tuple(
        (flavor, pods.name, tuple(placed.items())) for flavor, pods, placed in work.places()
    )
    return work.key, usage, places


def _tried(progress: Progress | None, cycle: int, released: int) -> str:
    """Where a job was in its flavors, as far as it counts in the next cycle."""
    if progress is None:
        return ""
    return f"{progress.tried} {cycle - progress.cycle > 0} {released > progress.released}"
