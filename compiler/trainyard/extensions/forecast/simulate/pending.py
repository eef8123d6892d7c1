"""The jobs that wait in a queue: those that will be looked at, and those that were and did not fit.

Source: Kueue 0.19.2, pkg/cache/queue/cluster_queue.go and inadmissible_workloads.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from heapq import heappop, heappush
from typing import Any

from trainyard.extensions.forecast.simulate.objects import Queue
from trainyard.extensions.forecast.simulate.state import Work


class Outcome(Enum):
    """Why a job that was looked at goes back to its queue."""

    OTHER = auto()
    NO_FIT = auto()
    NO_CANDIDATES = auto()
    PREEMPTING = auto()
    TAKEN = auto()
    WRONG_NAMESPACE = auto()


class Pending:
    """The jobs that wait in one queue.

    ``waiting`` are to be looked at; ``parked`` did not fit, and wait until something is given back. In a queue that is
    not strict, jobs of the same shape as one that did not fit are parked unseen, and a job that preempts, ``first``,
    comes before all others.
    """

    def __init__(self, queue: Queue) -> None:
        self.name = queue.name
        self._strict = queue.strict
        self.waiting: dict[str, Work] = {}
        self.parked: dict[str, Work] = {}
        self.first: str | None = None
        self._shapes: set[Any] = set()
        # With entries of jobs that have left, which are passed over.
        self._ranked: list[tuple[tuple[int, int, int], str]] = []

    def add(self, work: Work) -> None:
        """Enter a job that is new, or was evicted."""
        self.parked.pop(work.key, None)
        if not self._strict and work.shape in self._shapes:
            self.parked[work.key] = work
            return
        self._wait(work)

    def _wait(self, work: Work) -> None:
        self.waiting[work.key] = work
        heappush(self._ranked, (work.rank, work.key))

    def remove(self, work: Work) -> None:
        """Forget a job that is gone, or admitted."""
        self.waiting.pop(work.key, None)
        self.parked.pop(work.key, None)
        if self.first == work.key:
            self.first = None

    def pop(self) -> Work | None:
        """The job to look at next."""
        if self.first in self.waiting:
            return self.waiting.pop(self.first)
        while self._ranked:
            rank, key = heappop(self._ranked)
            work = self.waiting.get(key)
            if work is not None and work.rank == rank:
                return self.waiting.pop(key)
        return None

    def put_back(self, work: Work, outcome: Outcome) -> None:
        """Enter a job that was looked at and is not admitted."""
        if outcome is Outcome.PREEMPTING and not self._strict:
            self.first = work.key
        if self._is_seen_again(work, outcome):
            self._wait(work)
            return
        self.parked[work.key] = work
        if not self._strict and outcome in (Outcome.NO_FIT, Outcome.NO_CANDIDATES):
            self._shapes.add(work.shape)
            for other in [each for each in self.waiting.values() if each.shape == work.shape]:
                del self.waiting[other.key]
                self.parked[other.key] = other

    def _is_seen_again(self, work: Work, outcome: Outcome) -> bool:
        if work.progress is not None and work.progress.is_pending():
            return True
        if self._strict:
            return outcome is not Outcome.WRONG_NAMESPACE
        return outcome in (Outcome.PREEMPTING, Outcome.TAKEN)

    def wake(self) -> None:
        """Something was given back: all are looked at again."""
        self._shapes.clear()
        for work in self.parked.values():
            self._wait(work)
        self.parked.clear()

    def all(self) -> Iterator[Work]:
        """All jobs that wait."""
        yield from self.waiting.values()
        yield from self.parked.values()
