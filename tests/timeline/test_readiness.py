"""Jobs that have quota and no nodes: ``waitForPodsReady``, and how a job comes back."""

from __future__ import annotations

from typing import Any

import pytest
from builders import plan_of, spec
from simulate.worlds import job, queue
from trainyard.core.jobs.length import Basis, Length
from trainyard.extensions.forecast.timeline.course import Timeline
from trainyard.extensions.forecast.timeline.outlook import _Running
from trainyard.extensions.forecast.timeline.readiness import PodsReady, pods_ready

from timeline.worlds import HOUR, course, flat, hours, run, spans

READY = PodsReady(timeout=1800, limit=2)


def minutes(moments: tuple[int, ...]) -> list[float]:
    return [moment / 60 for moment in moments]


def without_nodes(ready: PodsReady | None) -> Timeline:
    """Quota for four nodes, of which two exist: `wide` wants three, and `small`, behind it, has no quota beside it."""
    world = flat(queue("a", 32), nodes=2)
    wide = job("wide", "a", 3, priority=1), hours(1)
    return run(world, wide, (job("small", "a", 2), hours(4)), ready=ready)


@pytest.mark.parametrize(
    ("evictions", "seconds"), [(1, 60), (2, 120), (3, 240), (6, 1920), (7, 3600), (1000, 3600)]
)
def test_each_wait_is_twice_as_long_up_to_an_hour(evictions: int, seconds: int) -> None:
    assert PodsReady(1800, None).backoff(evictions) == seconds


@pytest.mark.parametrize(
    ("waits", "ready"),
    [
        ({"timeout": "1h", "requeues": 3}, PodsReady(3600, 3)),
        ({"timeout": "45m", "requeues": 0}, PodsReady(2700, 0)),
    ],
)
def test_the_waits_are_those_of_the_queue_manager(waits: dict[str, Any], ready: PodsReady) -> None:
    assert pods_ready(plan_of(spec(kueue={"waitForPodsReady": waits}))) == ready


def test_a_job_without_nodes_gives_its_quota_back_to_the_next_one() -> None:
    assert spans(without_nodes(READY))["small"] == [(0.5, 4.5)]


def test_without_a_timeout_it_keeps_its_quota() -> None:
    done = without_nodes(None)
    assert spans(done) == {"wide": [], "small": []}
    assert course(done, "wide").reason == "its quota is there, and not enough nodes are"


def test_it_is_deactivated_when_it_was_put_back_often_enough() -> None:
    wide = course(without_nodes(READY), "wide")
    # Admitted at once, then a minute after its eviction behind `small`, so when that has ended, and two minutes later.
    assert minutes(wide.evicted) == [30, 4.5 * 60 + 30]
    assert wide.deactivated == (4.5 * 60 + 30 + 2 + 30) * 60
    assert not wide.attempts


def test_alone_it_is_given_up_after_its_patience() -> None:
    done = run(flat(queue("a", 32), nodes=2), (job("wide", "a", 3), hours(1)), ready=READY)
    wide = course(done, "wide")
    assert minutes(wide.evicted) == [30, 61]
    assert wide.deactivated == READY.patience() == (3 * 30 + 1 + 2) * 60


def test_nodes_that_come_in_time_are_enough() -> None:
    world = flat(queue("a", 32), nodes=2)
    first = job("first", "a", 2), hours(0.4)
    done = run(world, first, (job("second", "a", 2), hours(1)), ready=READY)
    assert spans(done) == {"first": [(0, 0.4)], "second": [(0.4, 1.4)]}
    assert course(done, "second").evicted == ()


def test_an_evicted_job_is_as_old_as_its_eviction() -> None:
    """`early` was there first, and waits behind both others once it was evicted (``timestamp: Eviction``)."""
    world = flat(queue("a", 24), nodes=2)
    early = job("early", "a", 3), hours(1)
    others = [(job(name, "a", 2), hours(1)) for name in ("late", "last")]
    done = run(world, early, *others, ready=READY)
    assert spans(done) == {"early": [], "late": [(0.5, 1.5)], "last": [(1.5, 2.5)]}
    assert minutes(course(done, "early").evicted) == [30, 180]


def test_what_is_put_back_without_an_end_does_not_keep_a_timeline_from_ending() -> None:
    done = without_nodes(PodsReady(1800, None))
    assert spans(done)["small"] == [(0.5, 4.5)]
    wide = course(done, "wide")
    assert wide.deactivated is None
    # Three times since `small` has started: after the third nothing can be different.
    assert minutes(wide.evicted) == [30, 4.5 * 60 + 30, 4.5 * 60 + 62, 4.5 * 60 + 96]


def test_jobs_that_wait_for_a_block_are_given_up_before_it_begins() -> None:
    world = flat(queue("a", 16), nodes=2)
    length = Length(Basis.EXPECTED, HOUR)
    soon = run(world, (job("one", "a", 1), length), opens=1.5, ready=READY)
    later = run(world, (job("one", "a", 1), length), opens=2, ready=READY)
    assert not any("deactivates" in note for note in soon.notes)
    [note] = [note for note in later.notes if "deactivates" in note]
    assert "1h33m" in note


@pytest.mark.parametrize(("now", "worked"), [(100, 0), (150, 0), (200, 40), (1000, 840)])
def test_the_time_before_its_first_step_is_no_work_of_a_job(now: int, worked: int) -> None:
    assert _Running(1, 100, None, 60, ()).worked(now) == worked
