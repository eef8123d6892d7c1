"""The tree of quotas: what a queue has left, with what it may borrow, and what it owes its cohort.

Source: Kueue 0.19.2, pkg/cache/scheduler/resource_node.go, and pkg/scheduler/preemption/classical/
hierarchical_preemption.go for heights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compiler.simulate.objects import Cell, Limits

NOTHING = Limits(0)


class Account:
    """A queue or a cohort: its quotas, what of them is used, and the cohort above it.

    ``own`` is what the subtree has; ``used`` is what counts against it: of a queue its jobs, of a cohort what its
    children use beyond that which they do not lend.
    """

    def __init__(self, name: str, quotas: Mapping[Cell, Limits], weight: float = 1.0) -> None:
        self.name = name
        self.quotas = dict(quotas)
        self.weight = weight
        self.own: dict[Cell, int] = {}
        self.used: dict[Cell, int] = {}
        self.above: Account | None = None
        self.cohorts: list[Account] = []
        self.queues: list[Account] = []

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
        self.own = {cell: limits.nominal for cell, limits in self.quotas.items()}
        for child in (*self.cohorts, *self.queues):
            child.sum_up()
            for cell, amount in child.own.items():
                self.own[cell] = self.own.get(cell, 0) + amount - child.kept(cell)

    def kept(self, cell: Cell) -> int:
        """What is not lent to the cohort, because of a lending limit."""
        lending = self.limits(cell).lending
        if lending is None:
            return 0
        return max(0, self.own.get(cell, 0) - lending)

    def kept_left(self, cell: Cell) -> int:
        """What is left of that which is not lent."""
        return max(0, self.kept(cell) - self.used.get(cell, 0))

    def left(self, cell: Cell) -> int:
        """What is left with what may be borrowed; negative where more is used than there is."""
        own, used = self.own.get(cell, 0), self.used.get(cell, 0)
        if self.above is None:
            return own - used
        offered = self.above.left(cell)
        borrowing = self.limits(cell).borrowing
        if borrowing is not None:
            kept = self.kept(cell)
            in_cohort = own - kept - max(0, used - kept)
            offered = min(offered, in_cohort + borrowing)
        return self.kept_left(cell) + offered

    def available(self, cell: Cell) -> int:
        """What a job can get now."""
        return max(0, self.left(cell))

    def most(self, cell: Cell) -> int:
        """What a job could get if nothing were used."""
        own = self.own.get(cell, 0)
        if self.above is None:
            return own
        most = self.kept(cell) + self.above.most(cell)
        borrowing = self.limits(cell).borrowing
        if borrowing is not None:
            most = min(most, own + borrowing)
        return most

    def use(self, cell: Cell, amount: int) -> None:
        """Count an amount as used, here and in the cohorts that lend it."""
        kept_left = self.kept_left(cell)
        self.used[cell] = self.used.get(cell, 0) + amount
        if self.above is not None and amount > kept_left:
            self.above.use(cell, amount - kept_left)

    def free(self, cell: Cell, amount: int) -> None:
        """Take back what :meth:`use` counted."""
        in_cohort = self.used.get(cell, 0) - self.kept(cell)
        self.used[cell] = self.used.get(cell, 0) - amount
        if in_cohort > 0 and self.above is not None:
            self.above.free(cell, min(amount, in_cohort))

    def exceeds_nominal(self, cell: Cell, more: int = 0) -> bool:
        """Whether a queue is beyond its own quota, with so much more."""
        return self.limits(cell).nominal < self.used.get(cell, 0) + more

    def exceeds_own(self, cell: Cell, more: int = 0) -> bool:
        """Whether the subtree is beyond what it has, with so much more."""
        return self.own.get(cell, 0) < self.used.get(cell, 0) + more

    def is_within(self, cells: Iterable[Cell]) -> bool:
        """Whether nothing of these is used beyond what the subtree has."""
        return not any(self.exceeds_own(cell) for cell in cells)

    def height(self) -> int:
        """How many levels there are below a cohort; of a queue none."""
        has_children = bool(self.cohorts or self.queues)
        heights = [child.height() + 1 for child in self.cohorts]
        return max([int(has_children), *heights])


def distance(queue: Account, cell: Cell, amount: int) -> tuple[int, bool]:
    """How far a queue must go for an amount: 0 for its own quota, else the height of the lowest cohort that has it;
    and whether that is less than the whole tree, so that it may be taken back."""
    if queue.above is None or not queue.exceeds_nominal(cell, amount):
        return 0, queue.above is not None
    left = amount - queue.kept_left(cell)
    for cohort in queue.path():
        if not cohort.exceeds_own(cell, left):
            return cohort.height(), cohort.above is not None
        left -= cohort.kept_left(cell)
    return queue.root().height(), False


def fits_in(account: Account, amounts: Mapping[Cell, int]) -> tuple[bool, dict[Cell, int]]:
    """Whether amounts fit into what a subtree has, and what of them the cohort above would have to give."""
    fits = not any(account.exceeds_own(cell, amount) for cell, amount in amounts.items())
    beyond = {cell: max(0, amount - account.kept_left(cell)) for cell, amount in amounts.items()}
    return fits, beyond
