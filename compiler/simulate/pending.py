"""The jobs that wait in a queue: those that will be looked at, and those that were and did not fit.

Source: Kueue 0.19.2, pkg/cache/queue/cluster_queue.go and inadmissible_workloads.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Any

from compiler.simulate.objects import Queue
from compiler.simulate.state import Work


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
    not strict, jobs of the same shape as one that did not fit are parked unseen, and a job that preempts comes first.
    """

    def __init__(self, queue: Queue) -> None:
        self._strict = queue.strict
        self.waiting: dict[str, Work] = {}
        self.parked: dict[str, Work] = {}
        self._shapes: set[Any] = set()
        self._first: str | None = None

    def add(self, work: Work) -> None:
        """Enter a job that is new, or was evicted."""
        self.parked.pop(work.key, None)
        if not self._strict and work.shape in self._shapes:
            self.parked[work.key] = work
            return
        self.waiting[work.key] = work

    def remove(self, work: Work) -> None:
        """Forget a job that is gone, or admitted."""
        self.waiting.pop(work.key, None)
        self.parked.pop(work.key, None)
        if self._first == work.key:
            self._first = None

    def pop(self) -> Work | None:
        """The job to look at next."""
        if not self.waiting:
            return None
        return self.waiting.pop(min(self.waiting.values(), key=self._order).key)

    def _order(self, work: Work) -> tuple[bool, int, int, int]:
        return work.key != self._first, -work.job.priority, work.job.created, work.order

    def put_back(self, work: Work, outcome: Outcome) -> None:
        """Enter a job that was looked at and is not admitted."""
        if outcome is Outcome.PREEMPTING and not self._strict:
            self._first = work.key
        if self._is_seen_again(work, outcome):
            self.waiting[work.key] = work
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
        self.waiting |= self.parked
        self.parked.clear()

    def all(self) -> Iterator[Work]:
        """All jobs that wait."""
        yield from self.waiting.values()
        yield from self.parked.values()

    def signature(self) -> tuple[Any, ...]:
        """What a cycle that changes nothing leaves as it is."""
        waiting = sorted(
            (work.key, work.progress and repr(work.progress.tried))
            for work in self.waiting.values()
        )
        return repr(waiting), tuple(sorted(self.parked)), self._first
