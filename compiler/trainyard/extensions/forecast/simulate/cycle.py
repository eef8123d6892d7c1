"""One cycle of the scheduler: the head of each queue is looked at, then they are admitted in their order.

Source: Kueue 0.19.2, pkg/scheduler/scheduler.go (schedule, processEntry, makeClassicalIterator).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.extensions.forecast.simulate.assignment import Mode, Obstacle
from trainyard.extensions.forecast.simulate.entry import Entry
from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.pending import Outcome
from trainyard.extensions.forecast.simulate.quota import Account
from trainyard.extensions.forecast.simulate.shares import Share, share
from trainyard.extensions.forecast.simulate.state import State, Work

# The order in which the heads of queues are admitted: who borrows least, then priority, then age; or by fair shares.
#
# Source: Kueue 0.19.2, pkg/scheduler/scheduler.go (makeClassicalIterator) and fair_sharing_iterator.go.


def in_order(state: State, entries: list[Entry]) -> Iterator[Entry]:
    """The entries, each given out when its turn has come: under fair sharing that depends on those before it."""
    if not state.world.fair:
        yield from sorted(entries, key=_classical)
        return
    left = {entry.work.queue: entry for entry in entries}
    while left:
        account = state.accounts[next(iter(left))]
        if account.above is None:
            yield left.pop(account.name)
            continue
        root = account.root()
        winner = _winner(root, left, _shares(state, root, left))
        if winner is None:
            return
        yield left.pop(winner.work.queue)


def _classical(entry: Entry) -> tuple[int, int, int, int]:
    return entry.assignment.borrowing, *entry.work.rank


_Shares = dict[tuple[str, str], Share]


def _shares(state: State, root: Account, left: dict[str, Entry]) -> _Shares:
    """The share of each queue and cohort with its job admitted, by the cohort above it and the job."""
    shares: _Shares = {}
    for entry in left.values():
        account = state.accounts[entry.work.queue]
        if account.root() is not root:
            continue
        state.count_quota(account.name, entry.assignment.usage, 1)
        found = share(account)
        for cohort in account.path():
            shares[cohort.name, entry.work.key] = found
            found = share(cohort)
        state.count_quota(account.name, entry.assignment.usage, -1)
    return shares


def _winner(cohort: Account, left: dict[str, Entry], shares: _Shares) -> Entry | None:
    found = [_winner(lower, left, shares) for lower in cohort.cohorts]
    found += [left.get(queue.name) for queue in cohort.queues]
    entries = [entry for entry in found if entry is not None]
    if not entries:
        return None
    return min(entries, key=lambda entry: _rank(entry, shares[cohort.name, entry.work.key]))


def _rank(entry: Entry, found: Share) -> tuple[bool, tuple[bool, float], int, int]:
    asked = {cell for cell, amount in entry.assignment.usage.items() if amount > 0}
    borrows = _any(asked, found.borrowed)
    priority, since, _ = entry.work.rank
    return borrows, found.rank, priority, since


def _any(asked: set[Cell], borrowed: frozenset[Cell]) -> bool:
    return not asked.isdisjoint(borrowed)


PREEMPTED = "Preempted"


class Cycle:
    """What a cycle decides: jobs to admit, jobs that are preempted and by whom, and the others with the reason."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.admitted: list[Entry] = []
        self.preempted: dict[str, tuple[Work, Work, str]] = {}
        self.back: list[tuple[Entry, Outcome]] = []
        self._counted: list[tuple[Entry, Mapping[Cell, int]]] = []

    def run(self, heads: list[Work]) -> None:
        """Look at the heads, and decide."""
        entries = [Entry(self._state, work) for work in heads]
        for entry in entries:
            entry.look()
        for entry in in_order(self._state, entries):
            self._process(entry)
        for entry, usage in self._counted:
            entry.count(usage, -1)

    def _process(self, entry: Entry) -> None:
        gone = [work for work, _, _ in self.preempted.values()]
        has_quota, has_places = self._still_fits(entry, gone)
        if has_quota and not has_places:
            # Heads of other queues chose their places at the same time, maybe the same ones.
            entry.work.progress = None
            entry.look(entry.flavors())
            has_quota, has_places = self._still_fits(entry, gone)
        mode = entry.assignment.mode
        if mode is Mode.NO_FIT:
            self._put_back(entry, Outcome.NO_FIT)
            return
        if mode is Mode.PREEMPT and not entry.targets:
            self._put_back(entry, Outcome.NO_CANDIDATES)
            self._keep(entry)
            return
        if any(target.work.key in self.preempted for target in entry.targets):
            self._taken(entry)
            return
        if not (has_quota and has_places):
            self._taken(entry)
            return
        self._count(entry, entry.assignment.usage)
        if mode is Mode.FIT:
            self.admitted.append(entry)
            return
        for target in entry.targets:
            self.preempted[target.work.key] = (target.work, entry.work, target.reason)
        self._put_back(entry, Outcome.PREEMPTING)

    def _still_fits(self, entry: Entry, gone: list[Work]) -> tuple[bool, bool]:
        leaving = gone
        if entry.targets:
            own = [each.work for each in entry.targets if each.work.key not in self.preempted]
            leaving = [*gone, *own]
        has_quota = entry.has_quota(leaving)
        return has_quota, has_quota and entry.has_places(leaving)

    def _put_back(self, entry: Entry, outcome: Outcome) -> None:
        self.back.append((entry, outcome))
        if outcome is not Outcome.PREEMPTING:
            entry.work.obstacles = entry.assignment.obstacles()

    def _taken(self, entry: Entry) -> None:
        self.back.append((entry, Outcome.TAKEN))
        entry.work.obstacles = [Obstacle("taken")]

    def _count(self, entry: Entry, usage: Mapping[Cell, int]) -> None:
        entry.count(usage, 1)
        self._counted.append((entry, usage))

    def _keep(self, entry: Entry) -> None:
        """What a job that can preempt nobody needs is kept from other queues for this cycle, unless its queue can take
        its quota back at any time."""
        queue = self._state.queues[entry.work.queue]
        if queue.preemption.reclaim == "Any":
            return
        account = self._state.accounts[queue.name]
        kept: dict[Cell, int] = {}
        for cell, amount in entry.assignment.usage.items():
            balance = account.of(cell)
            own_left = balance.nominal - balance.used
            if entry.assignment.borrowing == 0:
                kept[cell] = max(0, min(amount, own_left))
            elif balance.borrowing is None:
                kept[cell] = amount
            else:
                kept[cell] = min(amount, own_left + balance.borrowing)
        self._count(entry, kept)
