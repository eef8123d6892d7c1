"""What holds whatever the queues, the jobs and their lengths are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulate.worlds import admitted, job, queue
from trainyard.core.jobs.length import Basis, Length
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.simulator import run as at_once
from trainyard.extensions.forecast.timeline.course import Ending, Timeline

from timeline.worlds import flat, hours, run

pytestmark = pytest.mark.slow

Drawn = tuple[int, list[tuple[Job, Length]], float | None]


@st.composite
def plans(draw: st.DrawFn) -> Drawn:
    nodes = draw(st.integers(1, 6))
    jobs = [
        (
            job(f"j{index}", draw(st.sampled_from("ab")), draw(st.integers(1, 4)), priority=draw(st.integers(0, 2))),
            hours(draw(st.integers(1, 9)), every=draw(st.none() | st.integers(1, 3))),
        )
        for index in range(draw(st.integers(0, 6)))
    ]  # fmt: skip
    return nodes, jobs, draw(st.none() | st.integers(1, 30))


def made(nodes: int) -> tuple[list[dict[str, object]], ...]:
    preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    return tuple(
        queue(name, 8 * nodes // 2, cohortName="all", preemption=preemption) for name in "ab"
    )


def drawn(plan: Drawn) -> Timeline:
    nodes, jobs, closes = plan
    return run(flat(*made(nodes), nodes=nodes), *jobs, closes=closes)


@given(plans())
def test_no_pool_is_ever_above_its_nodes(plan: Drawn) -> None:
    done = drawn(plan)
    for pool in done.pools:
        for moment, used in pool.steps:
            running = sum(
                share.nodes
                for each in done.courses
                for one in each.attempts
                for share in one.shares
                if one.start <= moment and (one.end is None or moment < one.end)
            )
            assert running == used <= pool.nodes
        assert 0 <= pool.idle(pool.nodes, done.horizon) <= pool.paid(pool.nodes, done.horizon)


@given(plans())
def test_attempts_follow_each_other_and_do_all_of_the_work(plan: Drawn) -> None:
    done = drawn(plan)
    for each in done.courses:
        last = 0
        for one in each.attempts:
            assert one.start >= last
            assert one.end is not None
            last = one.end
        if each.is_done:
            ran = sum((one.end or 0) - one.start for one in each.attempts)
            lost = sum(one.lost for one in each.attempts)
            assert ran - lost >= (each.length.seconds or 0)
            assert all(one.ending is not Ending.DONE for one in each.attempts[:-1])


@given(plans())
def test_without_lengths_it_begins_as_all_at_once(plan: Drawn) -> None:
    """The first moment of a timeline is what `trainyard simulate` says; without lengths nothing follows."""
    nodes, jobs, _ = plan
    world = flat(*made(nodes), nodes=nodes)
    done = run(world, *((each, Length(Basis.UNKNOWN)) for each, _ in jobs))
    together = at_once(world, [each for each, _ in jobs])
    assert {each.job for each in done.courses if each.attempts} == set(admitted(together))
    assert done.horizon == 0


@given(plans())
def test_the_same_every_time(plan: Drawn) -> None:
    assert drawn(plan) == drawn(plan)
