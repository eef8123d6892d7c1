"""What a week of a job loses: numbers by hand, and what holds for every gang."""

from __future__ import annotations

from functools import cache
from math import isclose, sqrt
from typing import Any

import pytest
from builders import spec
from hypothesis import given
from hypothesis import strategies as st
from trainyard.catalog import load_catalog
from trainyard.extensions.forecast.failures.week import Week

from failures.walking import READ, saving, week_of

pytestmark = pytest.mark.usefixtures("two_failure_rates")

HOURS = {rate.name: rate.hours for rate in load_catalog().failure_rates.rates}
LLAMA, RSC = HOURS["Llama 3 405B"], HOURS["Meta RSC-1"]


def found(data: dict[str, Any]) -> Week:
    week = week_of(data)
    assert week is not None
    return week


def test_published_rates() -> None:
    """419 in 54 days on 16,384 GPUs; and 6.5 in 1,000 days of eight. From the second its authors compute 1.8 hours
    between two failures of 16,384 GPUs."""
    assert round(LLAMA) == 50_677
    assert round(RSC) == 29_538
    assert round(RSC / 16384, 1) == 1.8


def test_a_week_by_hand() -> None:
    """32 GPUs fail 168 × 32 / 50,677 and 168 × 32 / 29,538 times. After a failure 780 to 2,880 seconds pass, half an
    hour is repeated by half, and a save of 210 seconds is made 336 times."""
    week = found(saving())
    fewest, most = week.failures
    assert isclose(fewest, 168 * 32 / LLAMA)
    assert isclose(most, 168 * 32 / RSC)
    loss = week.loss(1800)
    waits = (510 + 60 + READ, 600 + 510 + 900 + 600 + 60 + READ)
    assert isclose(loss.waits[0], fewest * 4 * waits[0] / 3600)
    assert isclose(loss.waits[1], most * 4 * waits[1] / 3600)
    assert isclose(loss.repeats[0], fewest * 4 * 900 / 3600)
    assert loss.saves is not None
    assert isclose(loss.saves, 336 * 4 * READ / 3600)
    assert isclose(loss.most, loss.waits[1] + loss.repeats[1] + loss.saves)
    assert loss.is_whole


def test_a_save_that_training_does_not_wait_for_costs_nothing() -> None:
    data = saving()
    data["spec"]["jobs"][0]["checkpoint"]["async"] = True
    assert found(data).loss(1800).saves == 0


def test_how_long_a_save_takes_may_not_be_known() -> None:
    data = saving({"model": None})
    loss = found(data).loss(1800)
    assert loss.saves is None
    assert not loss.is_whole
    assert isclose(loss.least, loss.waits[0] + loss.repeats[0])


def test_a_pool_says_its_own_rate() -> None:
    """400 hours of a node are 100 of four: 1.68 failures in a week."""
    week = found(saving(pool={"meanTimeBetweenFailures": "400h"}))
    assert len(week.rates) == 1
    assert isclose(week.failures[1], 1.68)


def test_nodes_without_gpus_have_no_published_rate() -> None:
    cpu = {"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}
    assert week_of(spec(pool=cpu)) is None
    assert found(spec(pool={**cpu, "meanTimeBetweenFailures": "4000h"})).failures[0] == 0.168


def test_a_job_that_is_not_started_again_has_no_week() -> None:
    assert week_of(saving({"retries": 0})) is None


@cache
def of_nodes(count: int) -> Week:
    return found(saving({"nodes": count}))


@pytest.mark.slow
@given(nodes=st.integers(1, 11), more=st.integers(1, 11), every=st.integers(60, 86_400))
def test_the_loss_grows_with_the_gang(nodes: int, more: int, every: int) -> None:
    """Twice: more nodes fail more often, and each failure stops more of them."""
    weeks = [of_nodes(count) for count in (nodes, nodes + more)]
    small, large = (week.loss(every) for week in weeks)
    assert small.least < large.least
    assert small.most < large.most
    share = [loss.most / week.node_hours for loss, week in zip((small, large), weeks, strict=True)]
    assert share[0] < share[1] or isclose(share[0], share[1])


@pytest.mark.parametrize("mean", ["1h", "24h", "720h"])
@pytest.mark.parametrize("every", [1, 60, 1800, 86_400, 30 * 86_400])
def test_no_more_is_lost_than_there_is(mean: str, every: int) -> None:
    """Neither where nodes fail faster than a job starts, nor where a save takes longer than the interval."""
    week = found(saving(pool={"meanTimeBetweenFailures": mean}))
    loss = week.loss(every)
    assert loss.saves is not None
    assert 0 <= loss.least <= loss.most <= week.node_hours
    assert loss.saves <= week.node_hours


@pytest.mark.slow
@given(every=st.integers(60, 7 * 86_400))
def test_the_best_interval_loses_the_least(every: int) -> None:
    """√(2 · write · time between failures) is where saves and repeated work cost the same; any other costs more."""
    week = of_nodes(4)
    schedule = week.job.schedule
    assert schedule is not None
    assert schedule.write is not None
    assert schedule.mtbf is not None
    best = round(sqrt(2 * schedule.write * schedule.mtbf))
    fewest = week.loss(best)
    assert fewest.saves is not None
    assert isclose(fewest.saves, fewest.repeats[0], rel_tol=1e-3)
    assert fewest.least <= week.loss(every).least * (1 + 1e-9)
    # What the spec is advised is round, and hardly worse.
    assert schedule.best is not None
    assert week.loss(schedule.best).least <= fewest.least * 1.01
