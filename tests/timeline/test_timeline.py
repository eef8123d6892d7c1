"""Timelines that were worked out by hand."""

from __future__ import annotations

from simulate.worlds import job, queue
from trainyard.core.jobs.length import Basis, Length
from trainyard.core.pools.waits import START
from trainyard.extensions.forecast.timeline.course import Ending
from trainyard.extensions.forecast.timeline.shown import Paid, text, values

from timeline.worlds import HOUR, course, flat, hours, run, spans

LAB = queue("lab", 32)
PREEMPTING = queue("lab", 32, preemption={"withinClusterQueue": "LowerPriority"})
UNKNOWN = Length(Basis.UNKNOWN)


def test_two_jobs_that_do_not_fit_together_run_one_after_the_other() -> None:
    done = run(flat(LAB, nodes=4), (job("a", "lab", 3), hours(20)), (job("b", "lab", 2), hours(5)))
    assert spans(done) == {"a": [(0, 20)], "b": [(20, 25)]}
    assert course(done, "b").attempts[0].after == ("a",)
    assert done.horizon == 25 * HOUR
    (pool,) = done.pools
    assert pool.steps == ((0, 3), (20 * HOUR, 2), (25 * HOUR, 0))
    # 20 hours with 1 node left, and 5 with 2.
    assert pool.idle(4, done.horizon) == 20 * 1 + 5 * 2
    assert pool.paid(4, done.horizon) == 100


def test_a_job_that_fits_beside_another_does_not_wait() -> None:
    done = run(
        flat(LAB, nodes=4),
        (job("a", "lab", 3), hours(20)),
        (job("b", "lab", 2), hours(5)),
        (job("c", "lab", 1), hours(1)),
    )
    assert spans(done) == {"a": [(0, 20)], "b": [(20, 25)], "c": [(0, 1)]}


def test_of_two_that_end_together_both_let_the_next_one_in() -> None:
    done = run(
        flat(LAB, nodes=4),
        (job("a", "lab", 2), hours(3)),
        (job("b", "lab", 2), hours(3)),
        (job("c", "lab", 4), hours(1)),
    )
    assert spans(done)["c"] == [(3, 4)]
    assert course(done, "c").attempts[0].after == ("a", "b")


def test_a_job_of_no_known_length_keeps_its_nodes() -> None:
    done = run(flat(LAB, nodes=4), (job("a", "lab", 3), UNKNOWN), (job("b", "lab", 2), hours(5)))
    assert spans(done) == {"a": [(0, None)], "b": []}
    assert course(done, "b").behind == ("a",)
    assert done.horizon == 0
    assert "waits for `a`, which nothing ends" in text([(done, {})])


def test_a_block_of_a_day_cuts_off_what_starts_too_late() -> None:
    """It closes 40 minutes before its end: the second job begins at 20:00 with 3 h 20 left, and saves each hour."""
    done = run(
        flat(LAB, nodes=4),
        (job("a", "lab", 3), hours(20)),
        (job("b", "lab", 2), hours(5, every=1)),
        (job("c", "lab", 4), hours(1)),
        closes=24 - 40 / 60,
    )
    assert spans(done)["b"] == [(20, 24 - 40 / 60)]
    cut = course(done, "b").attempts[0]
    assert (cut.ending, cut.by) == (Ending.CLOSED, "gpu")
    assert cut.lost == 20 * 60
    assert cut.saved == 23 * HOUR
    assert course(done, "b").end is None
    assert course(done, "c").attempts == ()
    assert course(done, "c").reason == "its Capacity Block has ended"


def test_what_ends_as_its_block_closes_has_ended() -> None:
    done = run(flat(LAB, nodes=4), (job("a", "lab", 4), hours(20)), closes=20)
    assert course(done, "a").is_done


def test_jobs_of_a_block_start_with_it() -> None:
    done = run(flat(LAB, nodes=4), (job("a", "lab", 4), hours(2)), opens=3, closes=10)
    assert spans(done) == {"a": [(3, 5)]}
    assert course(done, "a").attempts[0].after == ("gpu",)
    (pool,) = done.pools
    assert pool.paid(4, done.horizon) == 8
    assert pool.idle(4, done.horizon) == 0


def test_a_preempted_job_goes_on_from_its_last_checkpoint() -> None:
    """`low` has worked 4 hours when `quick` ends, and room for `high` comes only from it: half an hour is lost."""
    done = run(
        flat(PREEMPTING, nodes=4),
        (job("quick", "lab", 2, priority=2), hours(4)),
        (job("low", "lab", 2), hours(10, every=1)),
        (job("high", "lab", 3, priority=1), hours(3)),
    )
    first, second = course(done, "low").attempts
    assert spans(done)["high"] == [(4, 7)]
    assert (first.start, first.end, first.ending) == (0, 4 * HOUR, Ending.PREEMPTED)
    assert (first.by, first.lost) == ("high", HOUR // 2)
    assert second.start == 7 * HOUR
    assert second.end == 7 * HOUR + START.seconds + (10 - 3.5) * HOUR


def test_without_a_checkpoint_a_preempted_job_begins_again() -> None:
    done = run(
        flat(PREEMPTING, nodes=4),
        (job("quick", "lab", 2, priority=2), hours(4)),
        (job("low", "lab", 2), hours(10)),
        (job("high", "lab", 3, priority=1), hours(3)),
    )
    first, second = course(done, "low").attempts
    assert first.lost == 4 * HOUR
    assert second.end == 7 * HOUR + START.seconds + 10 * HOUR


def test_pods_without_nodes_wait_although_their_quota_is_there() -> None:
    done = run(flat(LAB, nodes=3), (job("a", "lab", 2), hours(2)), (job("b", "lab", 2), hours(1)))
    assert spans(done) == {"a": [(0, 2)], "b": [(2, 3)]}


def test_a_line_shows_when_a_job_waits_runs_and_is_gone() -> None:
    done = run(flat(LAB, nodes=3), (job("a", "lab", 2), hours(3)), (job("b", "lab", 2), hours(1)))
    bars = [line.partition("|")[2][:-1] for line in text([(done, {})]).splitlines() if "|" in line]
    first, second = (bar.replace(" ", "_") for bar in bars)
    quarter = len(first) // 4
    assert first == "#" * (3 * quarter) + "_" * quarter
    assert second == "." * (3 * quarter) + "#" * quarter


def test_text_and_values_say_the_same() -> None:
    done = run(flat(LAB, nodes=4), (job("a", "lab", 3), hours(20)), (job("b", "lab", 2), hours(5)))
    paid = {"gpu": Paid(4, 10.0)}
    shown = text([(done, paid)])
    assert "lab: 2 jobs, the last known end is after 1d1h" in shown
    assert "starts at 20h, after `a`" in shown
    assert "idle in gpu: 30.0 of 100.0 node hours that are paid, 300 USD" in shown
    assert max(map(len, shown.splitlines())) <= 100
    (cluster,) = values([(done, paid)])["clusters"]
    assert [(each["start"], each["end"]) for each in cluster["jobs"]] == [
        (0, 20 * HOUR),
        (20 * HOUR, 25 * HOUR),
    ]
    assert cluster["pools"][0]["idleNodeHours"] == 30
    assert cluster["pools"][0]["idleUsd"] == 300
