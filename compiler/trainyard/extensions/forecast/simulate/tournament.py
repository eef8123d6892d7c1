"""The order in which the heads of queues are admitted: who borrows least, then priority, then age; or by fair shares.

Source: Kueue 0.19.2, pkg/scheduler/scheduler.go (makeClassicalIterator) and fair_sharing_iterator.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.simulate.entry import Entry
from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.quota import Account
from trainyard.extensions.forecast.simulate.shares import Share, share
from trainyard.extensions.forecast.simulate.state import State


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
