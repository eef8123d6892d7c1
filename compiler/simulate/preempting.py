"""Whom a job preempts: enough jobs that it fits, and of these no more than are needed.

Source: Kueue 0.19.2, pkg/scheduler/preemption/preemption.go and preemption_oracle.go.
"""

from __future__ import annotations

from enum import IntEnum

from compiler.simulate.candidates import Candidate, Candidates
from compiler.simulate.fair import fair_targets
from compiler.simulate.need import Need, give_back
from compiler.simulate.objects import Cell
from compiler.simulate.quota import distance
from compiler.simulate.state import State, Work


class Way(IntEnum):
    """How a resource of a flavor could be had; a higher one is better."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4


def targets(need: Need) -> list[Candidate]:
    """The jobs to preempt; none if that would not help."""
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
    below_own = all(
        need.account.limits(cell).nominal > need.account.used.get(cell, 0) for cell in need.cells
    )
    if candidates.none_in_cohort or (forbidden and not below_own):
        return (True,)
    if forbidden and candidates.none_closer:
        return (False, True)
    return (True, False)


def _attempt(need: Need, candidates: Candidates, *, borrowing: bool) -> list[Candidate]:
    taken: list[Candidate] = []
    found: list[Candidate] = []
    for candidate in candidates.valid(borrowing=borrowing):
        need.state.remove(candidate.work)
        taken.append(candidate)
        if need.fits(borrowing=borrowing):
            found = give_back(need, taken, borrowing=borrowing)
            taken = found
            break
    for candidate in taken:
        need.state.add(candidate.work)
    return found


def foresee(state: State, work: Work, cell: Cell, amount: int) -> tuple[Way, int]:
    """How one resource could be had by preempting, and how far it would still be borrowed from."""
    found = targets(Need(state, work, frozenset({cell}), {cell: amount}))
    account = state.accounts[work.queue]
    if not found:
        return Way.NO_CANDIDATES, distance(account, cell, amount)[0]
    with state.without(candidate.work for candidate in found):
        borrowing, _ = distance(account, cell, amount)
    if any(candidate.work.queue == work.queue for candidate in found):
        return Way.PREEMPT, borrowing
    return Way.RECLAIM, borrowing
