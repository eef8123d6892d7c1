"""Whom a job preempts: enough jobs that it fits, and of these no more than are needed.

First without fair sharing: candidates are taken in their order until the job fits, and those given back that were not
needed. Then what is passed over, since it is certain that it would not help. At the end fair sharing.

Source: Kueue 0.19.2, pkg/scheduler/preemption/preemption.go and preemption_oracle.go, and of the candidates
pkg/scheduler/preemption/classical/candidate_generator.go and hierarchical_preemption.go, and
pkg/scheduler/preemption/common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from heapq import merge
from itertools import chain
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.quota import (
    LOWEST,
    Account,
    Share,
    fits_in,
    is_infinite,
    share,
)
from trainyard.extensions.forecast.simulate.state import State, Work, precedence
from trainyard.extensions.forecast.simulate.topology import Wanted, place_all

WITHIN = "InClusterQueue"
RECLAIM = "InCohortReclamation"
WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
FAIR = "InCohortFairSharing"


class Way(IntEnum):
    """How a resource of a flavor could be had; a higher one is better."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


def targets(need: Need) -> list[Candidate]:
    """The jobs to preempt; none if that would not help."""
    policy = need.queue.preemption
    if policy.within == "Never" and (policy.reclaim == "Never" or need.account.above is None):
        return []
    if not need.state.world.fair and _is_hopeless(need):
        return []
    if need.state.world.fair:
        return fair_targets(need)
    return _classical_targets(need)


def _classical_targets(need: Need) -> list[Candidate]:
    candidates = Candidates(need.state, need.work, need.cells, need.usage)
    for borrowing in _borrowing_attempts(need, candidates):
        found = _targets_of_attempt(need, candidates, borrowing=borrowing)
        if found:
            return found
    return []


def _borrowing_attempts(need: Need, candidates: Candidates) -> tuple[bool, ...]:
    """Whether the queue may borrow while it preempts: which is tried first."""
    forbidden = need.queue.preemption.while_borrowing == "Never"
    below_own = all(not need.account.exceeds_nominal(cell, 1) for cell in need.cells)
    if (forbidden and not below_own) or candidates.none_in_cohort():
        return (True,)
    if forbidden and candidates.none_closer():
        return (False, True)
    return (True, False)


def _targets_of_attempt(need: Need, candidates: Candidates, *, borrowing: bool) -> list[Candidate]:
    if not _may_suffice(need, candidates, borrowing=borrowing):
        return []
    taken: list[Candidate] = []
    found: list[Candidate] = []
    for candidate in candidates.valid(borrowing=borrowing):
        need.state.count(candidate.work, -1)
        taken.append(candidate)
        if need.fits(borrowing=borrowing):
            found = give_back(need, taken, borrowing=borrowing)
            taken = found
            break
    for candidate in taken:
        need.state.count(candidate.work, 1)
    return found


def foresee(
    state: State, work: Work, cell: Cell, amount: int, borrowing: int
) -> tuple[Way, int, list[Candidate]]:
    """How one resource could be had by preempting, how far it would still be borrowed from (``borrowing``: how far it
    is now), and which jobs would be preempted."""
    found = targets(Need(state, work, frozenset({cell}), {cell: amount}))
    if not found:
        return Way.NO_CANDIDATES, borrowing, found
    account = state.accounts[work.queue]
    with state.without(candidate.work for candidate in found):
        borrowing, _ = account.balance(cell).distance(amount)
    if any(candidate.work.queue == work.queue for candidate in found):
        return Way.PREEMPT, borrowing, found
    return Way.RECLAIM, borrowing, found


class Need:
    """What a job that preempts asks for, and whether it has it by now."""

    def __init__(
        self,
        state: State,
        work: Work,
        cells: frozenset[Cell],
        usage: Mapping[Cell, int],
        wanted: Sequence[Wanted] = (),
    ) -> None:
        self.state = state
        self.work = work
        self.cells = cells
        self.usage = usage
        self.wanted = wanted
        self.queue = state.queues[work.queue]
        self.account = state.accounts[work.queue]

    def fits(self, *, borrowing: bool = True) -> bool:
        """Whether quota and places are there; without borrowing if that is not allowed."""
        for cell, amount in self.usage.items():
            if not borrowing and self.account.exceeds_nominal(cell, amount):
                return False
            if amount > self.account.available(cell):
                return False
        if not self.wanted:
            return True
        _, unplaced = place_all(self.state.forests_of(self.queue.name), self.wanted)
        return unplaced is None


def give_back(need: Need, taken: list[Candidate], *, borrowing: bool) -> list[Candidate]:
    """Without those that turn out not to be needed, from the last to the first; they are in the books again."""
    kept = list(taken)
    for index in range(len(kept) - 2, -1, -1):
        need.state.count(kept[index].work, 1)
        if need.fits(borrowing=borrowing):
            # The order of the rest is Kueue's: the last one moves up.
            kept[index] = kept[-1]
            kept.pop()
        else:
            need.state.count(kept[index].work, -1)
    return kept


# Which jobs a job may preempt, and in which order they are taken.


class Candidate(NamedTuple):
    """A job that may be preempted: why, and up to which cohort its own ones must be beyond what they have; ``None`` for
    a job of the same queue."""

    work: Work
    reason: str
    up_to: Account | None


class _GivingQueue(NamedTuple):
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
        self._levels = list(self._cohorts_above(usage))

    def _cohorts_above(self, usage: Mapping[Cell, int]) -> Iterator[tuple[Account, bool]]:
        """The cohorts above, each with whether a subtree of it that has the job also has the quota that is missing."""
        if self._account.above is None or self._queue.preemption.reclaim == "Never":
            return
        closer, beyond = fits_in(self._account, usage)
        for cohort in self._account.path():
            yield cohort, closer
            fits, beyond = fits_in(cohort, beyond)
            closer = closer or fits

    @cached_property
    def _closer_queues(self) -> list[_GivingQueue]:
        return list(self._giving_queues(closer=True))

    @cached_property
    def _other_queues(self) -> list[_GivingQueue]:
        return list(self._giving_queues(closer=False))

    def _giving_queues(self, *, closer: bool) -> Iterator[_GivingQueue]:
        seen: Account | None = None
        for cohort, of_this in self._levels:
            if of_this is closer:
                for queue in self._beyond_own(cohort, seen):
                    yield _GivingQueue(queue.name, cohort)
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
        return not any(self._has_jobs(source) for source in self._closer_queues)

    def none_in_cohort(self) -> bool:
        """Whether there is none of another queue."""
        return self.none_closer() and not any(
            self._has_jobs(source) for source in self._other_queues
        )

    def _has_jobs(self, source: _GivingQueue) -> bool:
        return next(self._jobs_to_reclaim(source), None) is not None

    def _jobs_to_reclaim(self, source: _GivingQueue) -> Iterator[Work]:
        policy = self._queue.preemption.reclaim
        return victims(self._state, self._work, self._cells, source.queue, policy)

    def own(self) -> Iterator[Candidate]:
        """Those of the job's own queue."""
        for work in own_victims(self._state, self._work, self._cells):
            yield Candidate(work, WITHIN, None)

    def others(self, *, borrowing: bool) -> Iterator[Candidate]:
        """Those of other queues; if the job's queue will borrow, only those that may be preempted then."""
        closer = [self._candidates_to_reclaim(source) for source in self._closer_queues]
        others: list[Iterator[Candidate]] = []
        if not borrowing or self._queue.preemption.while_borrowing != "Never":
            others = [
                self._candidates_among_borrowers(source, borrowing=borrowing)
                for source in self._other_queues
            ]
        return chain(merge(*closer, key=_precedence_of), merge(*others, key=_precedence_of))

    def _candidates_to_reclaim(self, source: _GivingQueue) -> Iterator[Candidate]:
        for work in self._jobs_to_reclaim(source):
            yield Candidate(work, RECLAIM, source.cohort)

    def _candidates_among_borrowers(
        self, source: _GivingQueue, *, borrowing: bool
    ) -> Iterator[Candidate]:
        for work in self._jobs_to_reclaim(source):
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


def _precedence_of(candidate: Candidate) -> tuple[int, int, int]:
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


# What need not be tried out.


def _is_hopeless(need: Need) -> bool:
    """Whether the queue's own jobs are too few, and those of other queues are none that it may preempt: it would be
    beyond its own quota, and so would all that it is in."""
    if need.queue.preemption.while_borrowing != "Never":
        return False
    own = list(own_victims(need.state, need.work, frozenset(need.usage)))
    for cell, amount in need.usage.items():
        rest = amount - sum(work.usage().get(cell, 0) for work in own)
        balance = need.account.balance(cell)
        is_short = balance.left() < rest and balance.nominal < balance.used + rest
        if is_short and not balance.is_offered_below_root(amount):
            return True
    return False


def _may_suffice(need: Need, candidates: Candidates, *, borrowing: bool) -> bool:
    """Whether the quotas of all candidates together would do: where they do not, none is tried out."""
    others: list[Work] | None = None
    own = [candidate.work for candidate in candidates.own()]
    for cell, amount in need.usage.items():
        rest = amount - sum(work.usage().get(cell, 0) for work in own)
        if not borrowing and need.account.exceeds_nominal(cell, rest):
            return False
        missing = rest - need.account.balance(cell).left()
        if missing <= 0:
            continue
        if others is None:
            others = [candidate.work for candidate in candidates.others(borrowing=borrowing)]
        if missing > sum(work.usage().get(cell, 0) for work in others):
            return False
    return True


# Whom a job preempts under fair sharing: jobs of the queues with the largest share, as long as that is fair.
#
# Source: Kueue 0.19.2, pkg/scheduler/preemption/preemption.go (fairPreemptions) and
# pkg/scheduler/preemption/fairsharing, with the strategies that are released: LessThanOrEqualToFinalShare, then
# LessThanInitialShare.


def fair_targets(need: Need) -> list[Candidate]:
    """The jobs to preempt; none if that would not help, or not be fair."""
    works = _fair_candidates(need)
    if not works:
        return []
    # Shares are compared as they would be with the job.
    need.state.count_quota(need.work.queue, need.usage, 1)
    taken, again, fits = _by_first_rule(need, works)
    if not fits:
        fits = _by_second_rule(need, again, taken)
    need.state.count_quota(need.work.queue, need.usage, -1)
    found = give_back(need, taken, borrowing=True) if fits else []
    for candidate in found if fits else taken:
        need.state.count(candidate.work, 1)
    return found


def _fair_candidates(need: Need) -> list[Work]:
    preemption = need.queue.preemption
    works: list[Work] = []
    for name, account in need.state.accounts.items():
        own = name == need.work.queue
        policy = preemption.within if own else preemption.reclaim
        borrows = any(account.exceeds_nominal(cell) for cell in need.cells)
        same_tree = need.account.above is not None and account.root() is need.account.root()
        if policy == "Never" or not (own or (same_tree and borrows)):
            continue
        for work in need.state.works[name].values():
            uses = any(cell in need.cells for cell in work.usage())
            if uses and may_preempt(need.work, work, policy):
                works.append(work)
    return sorted(works, key=lambda work: _fair_precedence(work, need))


def _fair_precedence(work: Work, need: Need) -> tuple[bool, tuple[int, int, int]]:
    """Jobs of other queues come before those of the job's own."""
    return work.queue == need.work.queue, precedence(work)


def _fits_after_all(need: Need) -> bool:
    need.state.count_quota(need.work.queue, need.usage, -1)
    fits = need.fits()
    need.state.count_quota(need.work.queue, need.usage, 1)
    return fits


class _GivingOrder:
    """The queues in the order in which they give: always the one that is found by the largest shares from the root."""

    def __init__(self, need: Need, works: list[Work]) -> None:
        self._need = need
        self.works: dict[str, list[Work]] = {}
        for work in works:
            self.works.setdefault(work.queue, []).append(work)
        self._ancestors = list(need.account.path())
        self._done: set[int] = set()

    def drop(self, queue: Account) -> None:
        """Take nothing more of a queue."""
        self._done.add(id(queue))

    def next(self) -> Account | None:
        """The queue that gives next."""
        account = self._need.account
        if account.above is None:
            left = id(account) not in self._done and self.works.get(account.name)
            return account if left else None
        root = account.root()
        while id(root) not in self._done:
            found = self._giver_below(root)
            if found is not None:
                return found
        return None

    def _giver_below(self, cohort: Account) -> Account | None:
        queue, of_queue = self._largest_queue(cohort)
        lower, of_lower = self._largest_cohort(cohort)
        if queue is None and lower is None:
            self._done.add(id(cohort))
            return None
        if lower is not None and of_lower.rank >= of_queue.rank:
            return self._giver_below(lower)
        return queue

    def _largest_queue(self, cohort: Account) -> tuple[Account | None, Share]:
        best, highest = None, LOWEST
        for queue in cohort.queues:
            if id(queue) in self._done:
                continue
            found = share(queue)
            gives = found.borrowed or queue is self._need.account
            if not gives or not self.works.get(queue.name):
                self._done.add(id(queue))
            elif found.rank > highest.rank:
                best, highest = queue, found
            elif best is not None and found.rank == highest.rank:
                one, other = self.works[queue.name][0], self.works[best.name][0]
                if _fair_precedence(one, self._need) < _fair_precedence(other, self._need):
                    best = queue
        return best, highest

    def _largest_cohort(self, cohort: Account) -> tuple[Account | None, Share]:
        best, highest = None, LOWEST
        for lower in cohort.cohorts:
            if id(lower) in self._done:
                continue
            found = share(lower)
            if not found.borrowed and lower not in self._ancestors:
                self._done.add(id(lower))
            elif found.rank >= highest.rank:
                best, highest = lower, found
        return best, highest

    def below_common(self, queue: Account) -> tuple[Account, Account]:
        """The two accounts just below the lowest cohort that has both queues: of the job's, and of the other one."""
        common = next(each for each in queue.path() if each in self._ancestors)
        return _just_below(self._need.account, common), _just_below(queue, common)


def _just_below(account: Account, cohort: Account) -> Account:
    here = account
    for above in account.path():
        if above is cohort:
            break
        here = above
    return here


def _by_first_rule(need: Need, works: list[Work]) -> tuple[list[Candidate], list[Work], bool]:
    """Preempt where the job's share would not be larger than the other's after it; jobs for which that does not hold
    are left for the second rule."""
    ordering = _GivingOrder(need, works)
    taken: list[Candidate] = []
    again: list[Work] = []
    within = not any(need.account.exceeds_nominal(cell) for cell in need.cells)
    while (queue := ordering.next()) is not None:
        left = ordering.works[queue.name]
        reason = WITHIN if queue is need.account else RECLAIM
        if queue is not need.account and not within:
            reason = FAIR
            work = _first_fair_job(need, ordering, queue, again)
            if work is None:
                continue
        else:
            work = left.pop(0)
        need.state.count(work, -1)
        taken.append(Candidate(work, reason, None))
        if _fits_after_all(need):
            return taken, again, True
    return taken, again, False


def _first_fair_job(
    need: Need, ordering: _GivingOrder, queue: Account, again: list[Work]
) -> Work | None:
    """The first job of a queue that may be taken; those before it may be looked at again."""
    left = ordering.works[queue.name]
    mine, theirs = ordering.below_common(queue)
    share_of_job, before = share(mine), share(theirs)
    if is_infinite(share_of_job) and not is_infinite(before):
        again += left
        left.clear()
        return None
    while left:
        work = left.pop(0)
        with need.state.without([work]):
            after = share(theirs)
        if share_of_job.rank <= after.rank:
            return work
        again.append(work)
    return None


def _by_second_rule(need: Need, works: list[Work], taken: list[Candidate]) -> bool:
    """Preempt one job of a queue whose share is larger than the job's would be."""
    ordering = _GivingOrder(need, works)
    while (queue := ordering.next()) is not None:
        work = ordering.works[queue.name].pop(0)
        mine, theirs = ordering.below_common(queue)
        if share(mine).rank < share(theirs).rank:
            need.state.count(work, -1)
            taken.append(Candidate(work, FAIR, None))
            if _fits_after_all(need):
                return True
        ordering.drop(queue)
    return False
