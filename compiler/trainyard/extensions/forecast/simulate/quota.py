"""The tree of quotas: what a queue has left with what it may borrow, what it owes its cohort, and its share of that.

Source: Kueue 0.19.2, pkg/cache/scheduler/resource_node.go and fair_sharing.go, and pkg/scheduler/preemption/classical/
hierarchical_preemption.go for heights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trainyard.extensions.forecast.simulate.objects import Cell, Limits

NOTHING = Limits(0)


class Balance:
    """What a queue or a cohort has of one cell.

    ``nominal`` is its own quota and ``own`` what its subtree has; ``kept`` of that is not lent to the cohort ``above``,
    and no more than ``borrowing`` is borrowed of it. ``used`` is what counts against it: of a queue its jobs, of a
    cohort what its children use beyond that which they do not lend. ``height`` is that of the cohort, 0 of a queue.
    """

    __slots__ = ("_most", "above", "borrowing", "height", "kept", "nominal", "own", "used")

    def __init__(self, limits: Limits, own: int, height: int) -> None:
        self.nominal = limits.nominal
        self.borrowing = limits.borrowing
        self.own = own
        self.kept = 0 if limits.lending is None else max(0, own - limits.lending)
        self.used = 0
        self.height = height
        self.above: Balance | None = None
        self._most: int | None = None

    def left(self) -> int:
        """What is left with what may be borrowed; negative where more is used than there is."""
        if self.above is None:
            return self.own - self.used
        offered = self.above.left()
        kept_left = max(0, self.kept - self.used)
        if self.borrowing is not None:
            lent = self.own - self.kept
            used_of_it = max(0, self.used - self.kept)
            offered = min(offered, lent - used_of_it + self.borrowing)
        return kept_left + offered

    def most(self) -> int:
        """What a job could get if nothing were used."""
        if self._most is None:
            self._most = self._sum_of_most()
        return self._most

    def _sum_of_most(self) -> int:
        if self.above is None:
            return self.own
        most = self.kept + self.above.most()
        if self.borrowing is not None:
            most = min(most, self.own + self.borrowing)
        return most

    def use(self, amount: int) -> None:
        """Count an amount as used, here and in the cohorts that lend it."""
        here: Balance | None = self
        while here is not None and amount > 0:
            kept_left = max(0, here.kept - here.used)
            here.used += amount
            amount -= kept_left
            here = here.above

    def free(self, amount: int) -> None:
        """Take back what :meth:`use` counted."""
        here: Balance | None = self
        while here is not None and amount > 0:
            in_cohort = here.used - here.kept
            here.used -= amount
            amount = min(amount, in_cohort)
            here = here.above

    def distance(self, amount: int) -> tuple[int, bool]:
        """How far a queue must go for an amount: 0 for its own quota, else the height of the lowest cohort that has it;
        and whether that is less than the whole tree, so that it may be taken back."""
        if self.above is None or self.used + amount <= self.nominal:
            return 0, self.above is not None
        here = self
        while here.above is not None:
            amount -= max(0, here.kept - here.used)
            here = here.above
            if here.used + amount <= here.own:
                return here.height, here.above is not None
        return here.height, False

    def is_offered_below_root(self, amount: int) -> bool:
        """Whether this queue, or a cohort above it that is not the topmost, has so much more."""
        here = self
        while here.above is not None:
            if here.used + amount <= here.own:
                return True
            amount = max(0, amount - max(0, here.kept - here.used))
            here = here.above
        return False


class Account:
    """A queue or a cohort: its quotas, what of them is used, and the cohort above it."""

    def __init__(self, name: str, quotas: Mapping[Cell, Limits], weight: float = 1.0) -> None:
        self.name = name
        self.quotas = dict(quotas)
        self.weight = weight
        self.above: Account | None = None
        self.cohorts: list[Account] = []
        self.queues: list[Account] = []
        self.balances: dict[Cell, Balance] = {}

    def path(self) -> Iterator[Account]:
        """The cohorts above, up to the root."""
        above = self.above
        while above is not None:
            yield above
            above = above.above

    def root(self) -> Account:
        """The topmost cohort, or this account where it is in none."""
        return self if self.above is None else self.above.root()

    def limits(self, cell: Cell) -> Limits:
        """The quota of a cell; nothing where none is set."""
        return self.quotas.get(cell, NOTHING)

    def sum_up(self) -> None:
        """Compute what the subtree has. Nothing may be used yet."""
        own = {cell: limits.nominal for cell, limits in self.quotas.items()}
        children = (*self.cohorts, *self.queues)
        for child in children:
            child.sum_up()
            for cell, balance in child.balances.items():
                own[cell] = own.get(cell, 0) + balance.own - balance.kept
        height = self._height_of_cohort()
        self.balances = {
            cell: Balance(self.limits(cell), amount, height) for cell, amount in own.items()
        }
        for child in children:
            for cell, balance in child.balances.items():
                balance.above = self.balances[cell]

    def _height_of_cohort(self) -> int:
        """How many levels there are below a cohort; of a queue none."""
        has_children = bool(self.cohorts or self.queues)
        heights = [child._height_of_cohort() + 1 for child in self.cohorts]
        return max([int(has_children), *heights])

    def balance(self, cell: Cell) -> Balance:
        """What there is of a cell; of one without a quota nothing, here and above."""
        balance = self.balances.get(cell)
        if balance is None:
            balance = self.balances[cell] = Balance(NOTHING, 0, self._height_of_cohort())
            if self.above is not None:
                balance.above = self.above.balance(cell)
        return balance

    @property
    def used(self) -> dict[Cell, int]:
        """What is used, by cell."""
        return {cell: balance.used for cell, balance in self.balances.items()}

    def most(self, cell: Cell) -> int:
        """What a job could get if nothing were used."""
        return self.balance(cell).most()

    def available(self, cell: Cell) -> int:
        """What a job can get now."""
        return max(0, self.balance(cell).left())

    def exceeds_nominal(self, cell: Cell, more: int = 0) -> bool:
        """Whether a queue is beyond its own quota, with so much more."""
        balance = self.balance(cell)
        return balance.nominal < balance.used + more

    def is_within(self, cells: Iterable[Cell]) -> bool:
        """Whether nothing of these is used beyond what the subtree has."""
        for cell in cells:
            balance = self.balances.get(cell)
            if balance is not None and balance.used > balance.own:
                return False
        return True


def fits_in(account: Account, amounts: Mapping[Cell, int]) -> tuple[bool, dict[Cell, int]]:
    """Whether amounts fit into what a subtree has, and what of them the cohort above would have to give."""
    fits = True
    beyond = {}
    for cell, amount in amounts.items():
        balance = account.balance(cell)
        fits = fits and balance.used + amount <= balance.own
        beyond[cell] = max(0, amount - max(0, balance.kept - balance.used))
    return fits, beyond


# The share of a queue or a cohort: what it borrows, of what it could, by the resource of which that is the most.


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
