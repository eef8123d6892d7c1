"""Whom a job preempts: enough jobs that it fits, and of these no more than are needed.

Source: Kueue 0.19.2, pkg/scheduler/preemption/preemption.go and preemption_oracle.go.
"""

from __future__ import annotations

from enum import IntEnum

from trainyard.extensions.forecast.simulate.candidates import (
    RECLAIM,
    WITHIN,
    Candidate,
    Candidates,
    may_preempt,
    own_victims,
)
from trainyard.extensions.forecast.simulate.need import Need, give_back
from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.quota import Account
from trainyard.extensions.forecast.simulate.shares import LOWEST, Share, is_infinite, share
from trainyard.extensions.forecast.simulate.state import State, Work, precedence

# Whom a job preempts under fair sharing: jobs of the queues with the largest share, as long as that is fair.
#
# Source: Kueue 0.19.2, pkg/scheduler/preemption/preemption.go (fairPreemptions) and
# pkg/scheduler/preemption/fairsharing, with the strategies that are released: LessThanOrEqualToFinalShare, then
# LessThanInitialShare.

FAIR = "InCohortFairSharing"


def fair_targets(need: Need) -> list[Candidate]:
    """The jobs to preempt; none if that would not help, or not be fair."""
    works = _candidates(need)
    if not works:
        return []
    # Shares are compared as they would be with the job.
    need.state.count_quota(need.work.queue, need.usage, 1)
    taken, again, fits = _first_rule(need, works)
    if not fits:
        fits = _second_rule(need, again, taken)
    need.state.count_quota(need.work.queue, need.usage, -1)
    found = give_back(need, taken, borrowing=True) if fits else []
    for candidate in found if fits else taken:
        need.state.count(candidate.work, 1)
    return found


def _candidates(need: Need) -> list[Work]:
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
    return sorted(works, key=lambda work: _turn(work, need))


def _turn(work: Work, need: Need) -> tuple[bool, tuple[int, int, int]]:
    """Jobs of other queues come before those of the job's own."""
    return work.queue == need.work.queue, precedence(work)


def _fits(need: Need) -> bool:
    need.state.count_quota(need.work.queue, need.usage, -1)
    fits = need.fits()
    need.state.count_quota(need.work.queue, need.usage, 1)
    return fits


class _Order:
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
            found = self._below(root)
            if found is not None:
                return found
        return None

    def _below(self, cohort: Account) -> Account | None:
        queue, of_queue = self._queue(cohort)
        lower, of_lower = self._cohort(cohort)
        if queue is None and lower is None:
            self._done.add(id(cohort))
            return None
        if lower is not None and of_lower.rank >= of_queue.rank:
            return self._below(lower)
        return queue

    def _queue(self, cohort: Account) -> tuple[Account | None, Share]:
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
                if _turn(one, self._need) < _turn(other, self._need):
                    best = queue
        return best, highest

    def _cohort(self, cohort: Account) -> tuple[Account | None, Share]:
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


def _first_rule(need: Need, works: list[Work]) -> tuple[list[Candidate], list[Work], bool]:
    """Preempt where the job's share would not be larger than the other's after it; jobs for which that does not hold
    are left for the second rule."""
    ordering = _Order(need, works)
    taken: list[Candidate] = []
    again: list[Work] = []
    within = not any(need.account.exceeds_nominal(cell) for cell in need.cells)
    while (queue := ordering.next()) is not None:
        left = ordering.works[queue.name]
        reason = WITHIN if queue is need.account else RECLAIM
        if queue is not need.account and not within:
            reason = FAIR
            work = _fair_one(need, ordering, queue, again)
            if work is None:
                continue
        else:
            work = left.pop(0)
        need.state.count(work, -1)
        taken.append(Candidate(work, reason, None))
        if _fits(need):
            return taken, again, True
    return taken, again, False


def _fair_one(need: Need, ordering: _Order, queue: Account, again: list[Work]) -> Work | None:
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


def _second_rule(need: Need, works: list[Work], taken: list[Candidate]) -> bool:
    """Preempt one job of a queue whose share is larger than the job's would be."""
    ordering = _Order(need, works)
    while (queue := ordering.next()) is not None:
        work = ordering.works[queue.name].pop(0)
        mine, theirs = ordering.below_common(queue)
        if share(mine).rank < share(theirs).rank:
            need.state.count(work, -1)
            taken.append(Candidate(work, FAIR, None))
            if _fits(need):
                return True
        ordering.drop(queue)
    return False


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
    return _targets(need)


def _targets(need: Need) -> list[Candidate]:
    candidates = Candidates(need.state, need.work, need.cells, need.usage)
    for borrowing in _attempts(need, candidates):
        found = _attempt(need, candidates, borrowing=borrowing)
        if found:
            return found
    return []


def _attempts(need: Need, candidates: Candidates) -> tuple[bool, ...]:
    """Whether the queue may borrow while it preempts: which is tried first."""
    forbidden = need.queue.preemption.while_borrowing == "Never"
    below_own = all(not need.account.exceeds_nominal(cell, 1) for cell in need.cells)
    if (forbidden and not below_own) or candidates.none_in_cohort():
        return (True,)
    if forbidden and candidates.none_closer():
        return (False, True)
    return (True, False)


def _attempt(need: Need, candidates: Candidates, *, borrowing: bool) -> list[Candidate]:
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


def _is_hopeless(need: Need) -> bool:
    """Whether the queue's own jobs are too few, and those of other queues are none that it may preempt: it would be
    beyond its own quota, and so would all that it is in."""
    if need.queue.preemption.while_borrowing != "Never":
        return False
    own = list(own_victims(need.state, need.work, frozenset(need.usage)))
    for cell, amount in need.usage.items():
        rest = amount - sum(work.usage().get(cell, 0) for work in own)
        balance = need.account.of(cell)
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
        missing = rest - need.account.of(cell).left()
        if missing <= 0:
            continue
        if others is None:
            others = [candidate.work for candidate in candidates.others(borrowing=borrowing)]
        if missing > sum(work.usage().get(cell, 0) for work in others):
            return False
    return True


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
        borrowing, _ = account.of(cell).distance(amount)
    if any(candidate.work.queue == work.queue for candidate in found):
        return Way.PREEMPT, borrowing, found
    return Way.RECLAIM, borrowing, found
