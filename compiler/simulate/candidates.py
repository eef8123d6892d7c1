"""Which jobs a job may preempt, and in which order they are taken.

Source: Kueue 0.19.2, pkg/scheduler/preemption/classical/candidate_generator.go and hierarchical_preemption.go,
pkg/scheduler/preemption/common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from compiler.simulate.objects import Cell, Job
from compiler.simulate.quota import Account, fits_in
from compiler.simulate.state import State, Work

WITHIN = "InClusterQueue"
RECLAIM = "InCohortReclamation"
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"


class Candidate(NamedTuple):
    """A job that may be preempted: why, up to which cohort its own ones must be beyond what they have, and whether
    that may be done where the preempting queue will borrow."""

    work: Work
    reason: str
    up_to: Account | None
    if_borrowing: bool


class Candidates:
    """All candidates of a job, in their order; ``closer`` are those whose quota is nearer to the job than to them."""

    def __init__(self, state: State, work: Work, cells: frozenset[Cell], usage: Mapping[Cell, int]):
        self._state = state
        self._work = work
        self._cells = cells
        self._queue = state.queues[work.queue]
        own = self._own()
        closer, others = self._in_cohort(usage)
        for each in (own, closer, others):
            each.sort(key=lambda candidate: order(candidate.work, work.queue))
        self.all = [*closer, *others, *own]
        self.none_in_cohort = not closer and not others
        self.none_closer = not closer

    def _own(self) -> list[Candidate]:
        policy = self._queue.preemption.within
        if policy == "Never":
            return []
        works = self._state.works[self._queue.name].values()
        return [Candidate(work, WITHIN, None, True) for work in works if self._may(work, policy)]

    def _may(self, work: Work, policy: str) -> bool:
        uses = any(cell in self._cells for cell in work.usage())
        return uses and may_preempt(self._work.job, work.job, policy)

    def _in_cohort(self, usage: Mapping[Cell, int]) -> tuple[list[Candidate], list[Candidate]]:
        closer: list[Candidate] = []
        others: list[Candidate] = []
        account = self._state.accounts[self._queue.name]
        if account.above is None or self._queue.preemption.reclaim == "Never":
            return closer, others
        advantage, beyond = fits_in(account, usage)
        seen: Account | None = None
        for cohort in account.path():
            found = closer if advantage else others
            for queue in self._beyond_own(cohort, seen):
                found += self._of_queue(queue, cohort, advantage=advantage)
            fits, beyond = fits_in(cohort, beyond)
            advantage = advantage or fits
            seen = cohort
        return closer, others

    def _beyond_own(self, cohort: Account, seen: Account | None) -> Iterator[Account]:
        """The queues below a cohort that use more than is theirs, without a subtree that was seen."""
        for child in cohort.cohorts:
            if child is not seen and not child.is_within(self._cells):
                yield from self._beyond_own(child, seen)
        for queue in cohort.queues:
            if queue.name != self._queue.name and not queue.is_within(self._cells):
                yield queue

    def _of_queue(self, queue: Account, cohort: Account, *, advantage: bool) -> Iterator[Candidate]:
        for work in self._state.works[queue.name].values():
            if not self._may(work, self._queue.preemption.reclaim):
                continue
            if advantage:
                yield Candidate(work, RECLAIM, cohort, True)
            elif self._while_borrowing(work):
                yield Candidate(work, WHILE_BORROWING, cohort, True)
            else:
                yield Candidate(work, RECLAIM, cohort, False)

    def _while_borrowing(self, work: Work) -> bool:
        preemption = self._queue.preemption
        if preemption.while_borrowing == "Never" or work.job.priority >= self._work.job.priority:
            return False
        return preemption.threshold is None or work.job.priority <= preemption.threshold

    def valid(self, *, borrowing: bool) -> Iterator[Candidate]:
        """Those that still help, given what was taken before: what is within its own quota is left alone."""
        for candidate in self.all:
            if candidate.up_to is None:
                yield candidate
                continue
            if borrowing and not candidate.if_borrowing:
                continue
            account = self._state.accounts[candidate.work.queue]
            if account.is_within(self._cells):
                continue
            if not self._is_path_within(account, candidate.up_to):
                yield candidate

    def _is_path_within(self, account: Account, up_to: Account) -> bool:
        for cohort in account.path():
            if cohort is up_to:
                return False
            if cohort.is_within(self._cells):
                return True
        return False


def may_preempt(job: Job, other: Job, policy: str) -> bool:
    """Whether a policy lets a job preempt another one."""
    if policy == "Any":
        return True
    lower = job.priority > other.priority
    if policy == "LowerPriority":
        return lower
    newer = job.priority == other.priority and job.created < other.created
    return lower or (policy == "LowerOrNewerEqualPriority" and newer)


def order(work: Work, queue: str) -> tuple[bool, int, int, int]:
    """Other queues first, then low priority, then what got its quota last; of the same second, what came last (Kueue:
    a uid, which is random)."""
    return work.queue == queue, work.job.priority, -work.reserved, -work.order
