"""Work that grows with the jobs and the nodes, and no faster, by counts of calls and not by seconds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from timeline.worlds import hours, run
from trainyard.extensions.forecast.simulate.admission import Entry
from trainyard.extensions.forecast.simulate.compiled import Cluster
from trainyard.extensions.forecast.simulate.forecasts import forecast
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.reasons import blockers
from trainyard.extensions.forecast.simulate.state import State, World
from trainyard.extensions.forecast.simulate.topology import Forest

from simulate.worlds import job, made, queue, settled

POLICY = {"preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}}


def world(cohorts: int, *, racks: int | None = None) -> World:
    """Cohorts of three queues, each with four nodes."""
    queues = [
        queue(f"q{cohort}{name}", 8 * 4, cohortName=f"c{cohort}", **POLICY)
        for cohort in range(cohorts)
        for name in "abc"
    ]
    return made(*queues, racks=[12] * (cohorts if racks is None else racks))


def jobs(cohorts: int, *, mode: str | None = "preferred") -> list[Job]:
    """Eighteen jobs in each cohort, the same in all, of which half wait."""
    return [
        job(
            f"j{cohort}{name}{index}",
            f"q{cohort}{name}",
            1 + index % 4,
            mode=mode,
            priority=index % 3,
            created=index,
        )
        for cohort in range(cohorts)
        for name in "abc"
        for index in range(6)
    ]


def counted(monkeypatch: pytest.MonkeyPatch, what: type[Any], method: str) -> Counter[str]:
    """Counts the calls of a method."""
    calls: Counter[str] = Counter()
    original = getattr(what, method)

    def counting(self: Any, *arguments: Any, **more: Any) -> Any:
        calls[method] += 1
        return original(self, *arguments, **more)

    monkeypatch.setattr(what, method, counting)
    return calls


def _lasting(cohorts: int) -> None:
    run(world(cohorts), *((each, hours(1 + each.created)) for each in jobs(cohorts)))


@pytest.mark.slow
@pytest.mark.parametrize(("what", "method"), [(Entry, "look"), (Forest, "pods"), (State, "count")])
def test_a_timeline_does_no_more_for_each_of_more_cohorts(
    what: type[Any], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = counted(monkeypatch, what, method)
    _lasting(2)
    few = calls.pop(method)
    _lasting(4)
    assert few < calls[method] <= 2.2 * few


def test_nodes_that_nothing_changes_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch, Forest, "pods")
    settled(world(2, racks=3), *jobs(2))
    few = calls.pop("pods")
    settled(world(2, racks=30), *jobs(2))
    once = 12 * 27
    assert calls["pods"] <= few + 2 * once  # of an empty cluster, and of this one


def test_whom_a_job_waits_for_is_found_in_few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 64 running jobs is in the way of a job of the size of one."""
    many = [job(f"r{index}", "q", 1, created=index) for index in range(64)]
    simulator = settled(made(queue("q", 8 * 64)), *many, job("w", "q", 1, created=99))
    calls = counted(monkeypatch, State, "count")
    assert [each.job.name for each in blockers(simulator.state, simulator.works["team/w"])] == [
        "r63"
    ]
    assert calls["count"] <= 4


def test_jobs_that_ask_for_the_same_are_tried_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty jobs that never fit, of one queue: one is simulated alone, and one has its constraints dropped."""
    subject = made(queue("q", 8 * 2))
    never = tuple(job(f"n{index}", "q", 3) for index in range(60))
    looks = counted(monkeypatch, Entry, "look")
    found = forecast(Cluster("lab", subject, never, {}, (), (), (), frozenset()))
    assert {each.kind.value for each in found.verdicts} == {"NEVER FITS"}
    assert len({each.conflict for each in found.verdicts}) == 1
    alone = looks.pop("look")
    forecast(Cluster("lab", subject, never[:41], {}, (), (), (), frozenset()))
    edits_of_each = 20
    assert alone - looks["look"] <= 19 * edits_of_each
