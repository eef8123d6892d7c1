"""Balances of one cell in a tree of three: a queue, its cohort, and the root; counted by hand.

Source: Kueue 0.19.2, pkg/cache/scheduler/resource_node.go; hierarchical_preemption.go.
"""

from __future__ import annotations

import pytest
from trainyard.extensions.forecast.simulate.objects import Cell, Limits
from trainyard.extensions.forecast.simulate.quota import Account, Balance


def tree(*, lending: int | None = None, used: int = 0, of_cohort: int = 0) -> Balance:
    """A queue of 6, which lends ``lending`` of them, in a cohort of 10 in a root of 20."""
    queue, cohort, root = (
        Balance(Limits(6, None, lending), 6, 0),
        Balance(Limits(4, None, None), 10, 1),
        Balance(Limits(10, None, None), 20, 2),
    )
    queue.above, cohort.above = cohort, root
    queue.used, cohort.used = used, of_cohort
    return queue


@pytest.mark.parametrize(
    ("amount", "lending", "used", "of_cohort", "offered"),
    [
        (6, None, 0, 0, True),
        (7, None, 0, 0, True),
        (10, None, 0, 0, True),
        (11, None, 0, 0, False),
        (10, None, 0, 1, False),
        # Of 6 it keeps 4 for itself, which count nothing against the cohort: 8 take 4 of it.
        (8, 2, 0, 6, True),
        (8, 2, 0, 7, False),
        # Two of the four are used: 8 take 6 of the cohort.
        (8, 2, 2, 4, True),
        (8, 2, 2, 5, False),
        # More is used than it keeps: all of an amount counts.
        (8, 2, 6, 2, True),
        (8, 2, 6, 3, False),
    ],
)
def test_what_a_cohort_below_the_root_has(
    amount: int, lending: int | None, used: int, of_cohort: int, offered: bool
) -> None:
    queue = tree(lending=lending, used=used, of_cohort=of_cohort)
    assert queue.is_offered_below_root(amount) is offered


@pytest.mark.parametrize(
    ("amount", "lending", "of_cohort", "distance"),
    [
        (6, None, 0, (0, True)),
        (10, None, 0, (1, True)),
        (20, None, 0, (2, False)),
        (21, None, 0, (2, False)),
        (8, 2, 6, (1, True)),
        (8, 2, 7, (2, False)),
    ],
)
def test_how_far_a_queue_goes(
    amount: int, lending: int | None, of_cohort: int, distance: tuple[int, bool]
) -> None:
    assert tree(lending=lending, of_cohort=of_cohort).distance(amount) == distance


def test_a_cohort_is_as_high_as_the_longest_way_down() -> None:
    """A root with a queue and a cohort of two levels: the queue of the lowest cohort goes 1, 2, and 3 levels up."""
    cell = Cell("pool", "nvidia.com/gpu")
    queue, low, middle, root = (
        Account(name, {cell: Limits(2, None, None)}) for name in ("queue", "low", "middle", "root")
    )
    beside = Account("beside", {cell: Limits(2, None, None)})
    for account, above in ((queue, low), (low, middle), (middle, root), (beside, root)):
        account.above = above
    low.queues, middle.cohorts, root.cohorts, root.queues = [queue], [low], [middle], [beside]
    root.sum_up()
    distances = [queue.balances[cell].distance(amount) for amount in (2, 4, 6, 10)]
    assert distances == [(0, True), (1, True), (2, True), (3, False)]
