"""Which jobs a job may preempt, and in which order they are taken.

Source: Kueue 0.19.2, pkg/scheduler/preemption/classical/candidate_generator.go and hierarchical_preemption.go,
pkg/scheduler/preemption/common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from heapq import merge
from itertools import chain
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.quota import Account, fits_in
from trainyard.extensions.forecast.simulate.state import State, Work, precedence

WITHIN = "InClusterQueue"
RECLAIM = "InCohortReclamation"
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"


class Candidate(NamedTuple):
    """A job that may be preempted: why, and up to which cohort its own ones must be beyond what they have; ``None`` for
    a job of the same queue."""

    work: Work
    reason: str
    up_to: Account | None


class _Source(NamedTuple):
    """A queue below a cohort that uses more than is its own, so that its jobs may be preempted."""

    queue: str
    cohort: Account


class Candidates:
    """All candidates of a job, in their order; the closer ones are those whose quota is nearer to the job than to them.

    Which queues give is found at once, as quotas are now; their jobs are looked at one by one, as long as one is asked
    for.
    """

    def __init__(self, state: State, work: Work, cells: frozenset[Cell], usage: Mapping[Cell, int]):
        self._state = state
        self._work = work
        self._cells = cells
        self._queue = state.queues[work.queue]
        self._account = state.accounts[work.queue]
        self._levels = list(self._cohorts(usage))

    def _cohorts(self, usage: Mapping[Cell, int]) -> Iterator[tuple[Account, bool]]:
        """The cohorts above, each with whether a subtree of it that has the job also has the quota that is missing."""
        if self._account.above is None or self._queue.preemption.reclaim == "Never":
            return
        closer, beyond = fits_in(self._account, usage)
        for cohort in self._account.path():
            yield cohort, closer
            fits, beyond = fits_in(cohort, beyond)
            closer = closer or fits

    @cached_property
    def _closer(self) -> list[_Source]:
        return list(self._sources(closer=True))

    @cached_property
    def _others(self) -> list[_Source]:
        return list(self._sources(closer=False))

    def _sources(self, *, closer: bool) -> Iterator[_Source]:
        seen: Account | None = None
        for cohort, of_this in self._levels:
            if of_this is closer:
                for queue in self._beyond_own(cohort, seen):
                    yield _Source(queue.name, cohort)
            seen = cohort

    def _beyond_own(self, cohort: Account, seen: Account | None) -> Iterator[Account]:
        """The queues below a cohort that use more than is theirs, without a subtree that was seen."""
        for child in cohort.cohorts:
            if child is not seen and not child.is_within(self._cells):
                yield from self._beyond_own(child, seen)
        for queue in cohort.queues:
            if queue is not self._account and not queue.is_within(self._cells):
                yield queue

    def none_closer(self) -> bool:
        """Whether there is none whose quota is nearer to the job."""
        return not any(self._has_jobs(source) for source in self._closer)

    def none_in_cohort(self) -> bool:
        """Whether there is none of another queue."""
        return self.none_closer() and not any(self._has_jobs(source) for source in self._others)

    def _has_jobs(self, source: _Source) -> bool:
        return next(self._of(source), None) is not None

    def _of(self, source: _Source) -> Iterator[Work]:
        policy = self._queue.preemption.reclaim
        return victims(self._state, self._work, self._cells, source.queue, policy)

    def own(self) -> Iterator[Candidate]:
        """Those of the job's own queue."""
        for work in own_victims(self._state, self._work, self._cells):
            yield Candidate(work, WITHIN, None)

    def others(self, *, borrowing: bool) -> Iterator[Candidate]:
        """Those of other queues; if the job's queue will borrow, only those that may be preempted then."""
        closer = [self._reclaimed(source) for source in self._closer]
        others: list[Iterator[Candidate]] = []
        if not borrowing or self._queue.preemption.while_borrowing != "Never":
            others = [self._borrowers(source, borrowing=borrowing) for source in self._others]
        return chain(merge(*closer, key=_precedence), merge(*others, key=_precedence))

    def _reclaimed(self, source: _Source) -> Iterator[Candidate]:
        for work in self._of(source):
            yield Candidate(work, RECLAIM, source.cohort)

    def _borrowers(self, source: _Source, *, borrowing: bool) -> Iterator[Candidate]:
        for work in self._of(source):
            if self._while_borrowing(work):
                yield Candidate(work, WHILE_BORROWING, source.cohort)
            elif not borrowing:
                yield Candidate(work, RECLAIM, source.cohort)

    def _while_borrowing(self, work: Work) -> bool:
        preemption = self._queue.preemption
        if preemption.while_borrowing == "Never" or work.job.priority >= self._work.job.priority:
            return False
        return preemption.threshold is None or work.job.priority <= preemption.threshold

    def valid(self, *, borrowing: bool) -> Iterator[Candidate]:
        """Those that still help, given what was taken before: what is within its own quota is left alone."""
        for candidate in self.others(borrowing=borrowing):
            account = self._state.accounts[candidate.work.queue]
            if account.is_within(self._cells):
                continue
            if not self._is_path_within(account, candidate.up_to):
                yield candidate
        yield from self.own()

    def _is_path_within(self, account: Account, up_to: Account | None) -> bool:
        for cohort in account.path():
            if cohort is up_to:
                return False
            if cohort.is_within(self._cells):
                return True
        return False


def _precedence(candidate: Candidate) -> tuple[int, int, int]:
    return precedence(candidate.work)


def own_victims(state: State, work: Work, cells: frozenset[Cell]) -> Iterator[Work]:
    """The jobs of a job's own queue that it may preempt, in their order."""
    return victims(state, work, cells, work.queue, state.queues[work.queue].preemption.within)


def victims(
    state: State, work: Work, cells: frozenset[Cell], queue: str, policy: str
) -> Iterator[Work]:
    """The jobs of a queue that use some quotas, and that a policy lets a job preempt, in their order."""
    if policy == "Never":
        return
    for other in state.victims(queue):
        if policy != "Any" and other.job.priority > work.job.priority:
            return
        if may_preempt(work, other, policy) and not cells.isdisjoint(other.usage()):
            yield other


def may_preempt(work: Work, other: Work, policy: str) -> bool:
    """Whether a policy lets a job preempt another one."""
    if policy == "Any":
        return True
    lower = work.job.priority > other.job.priority
    if policy == "LowerPriority":
        return lower
    newer = work.job.priority == other.job.priority and work.since < other.since
    return lower or (policy == "LowerOrNewerEqualPriority" and newer)
