"""Whom a job preempts: enough jobs that it fits, and of these no more than are needed.

Source: Kueue 0.19.2, pkg/scheduler/preemption/preemption.go and preemption_oracle.go.
"""

from __future__ import annotations

from enum import IntEnum

from trainyard.extensions.forecast.simulate.candidates import Candidate, Candidates, own_victims
from trainyard.extensions.forecast.simulate.fair import fair_targets
from trainyard.extensions.forecast.simulate.need import Need, give_back
from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.state import State, Work


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
