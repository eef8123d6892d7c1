"""The share of a queue or a cohort: what it borrows, of what it could, by the resource of which that is the most.

Source: Kueue 0.19.2, pkg/cache/scheduler/fair_sharing.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.objects import Cell
from trainyard.extensions.forecast.simulate.quota import Account


class Share(NamedTuple):
    """A share: compared by ``rank``; ``borrowed`` are the quotas that are exceeded."""

    ratio: float
    weight: float
    borrowed: frozenset[Cell]

    @property
    def rank(self) -> tuple[bool, float]:
        """What orders shares: a borrower of weight 0 comes after all others."""
        if self.ratio == 0:
            return False, 0.0
        if self.weight == 0:
            return True, self.ratio
        return False, self.ratio / self.weight


LOWEST = Share(-1.0, 1.0, frozenset())


def share(account: Account) -> Share:
    """The share of an account; zero where it is in no cohort, or borrows nothing."""
    if account.above is None:
        return Share(0.0, account.weight, frozenset())
    borrowed: dict[str, int] = {}
    cells = set()
    for cell, balance in account.balances.items():
        beyond = balance.used - balance.own
        if beyond > 0:
            borrowed[cell.resource] = borrowed.get(cell.resource, 0) + beyond
            cells.add(cell)
    ratio = 0.0
    if borrowed:
        lendable = _lendable(account.above)
        for resource, amount in borrowed.items():
            most = lendable.get(resource, 0)
            if most > 0:
                ratio = max(ratio, amount * 1000.0 / most)
    return Share(ratio, account.weight, frozenset(cells))


def _lendable(cohort: Account) -> Mapping[str, int]:
    lendable: dict[str, int] = {}
    for cell in cohort.root().balances:
        lendable[cell.resource] = lendable.get(cell.resource, 0) + cohort.most(cell)
    return lendable


def is_infinite(found: Share) -> bool:
    """Whether a share is beyond every other one: that of a borrower of weight 0."""
    return math.isinf(math.inf if found.rank[0] else found.rank[1])
