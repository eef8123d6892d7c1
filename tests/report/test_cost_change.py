"""What becomes of the cost of a cluster, in words."""

from __future__ import annotations

import pytest
from trainyard.extensions.forecast.costs import Total
from trainyard.extensions.review.report.amounts import Amounts, cost_change


def change(before: Total | None, after: Total, *without: str) -> str:
    return cost_change(
        Amounts(before=before, after=after, without_price=without, devices=(), quota=())
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (None, Total(1.0, 2.0, True), ""),
        (Total(1.0, 2.0, True), Total(1.004, 2.004, True), ""),
        (
            Total(1.0, 2.0, True),
            Total(1.01, 2.0, True),
            "cost: +$0.01 an hour (+$7 a month) always",
        ),
        (
            Total(1.0, 20.0, True),
            Total(1.5, 10.0, True),
            "cost: +$0.50 an hour (+$365 a month) always; −$10.00 an hour (−$7,300 a month) at most",
        ),
        (
            Total(1.0, 2.0, False),
            Total(2.0, 2.0, True),
            "cost: +$1.00 an hour (+$730 a month) always (≈: prices of another Region)",
        ),
    ],
)
def test_it_is_said_where_a_cent_changes(before: Total | None, after: Total, said: str) -> None:
    assert change(before, after) == said


def test_what_has_no_price_is_named() -> None:
    said = change(Total(1.0, 2.0, True), Total(1.0, 3.0, True), "`4 of gpu`")
    assert said == "cost: +$1.00 an hour (+$730 a month) at most, without `4 of gpu`"
