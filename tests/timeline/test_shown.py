"""What the text of a timeline says of a job: when it ran, what stopped it, what it lost."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from simulate.worlds import job, queue
from trainyard.core.jobs.length import Basis, Length
from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.extensions.forecast.timeline.course import (
    Attempt,
    Course,
    Ending,
    PoolUse,
    Share,
    Timeline,
)
from trainyard.extensions.forecast.timeline.shown import Paid, details, summary, text, values
from trainyard.language.places import Route

from timeline.worlds import flat, hours, run

HOUR = 3600
TWO = (Share("gpu", 2),)


def saving(every: int) -> CheckpointSchedule:
    """Checkpoints of which nothing but the interval is known."""
    texts = dict.fromkeys(("path", "folder", "storage", "file_system", "deployment"), "")
    known = {"name": "a", "namespace": "team", "pool": "gpu", "nodes": 2, "every": every, **texts}
    unknown = {each.name: None for each in fields(CheckpointSchedule) if each.init}
    return CheckpointSchedule(**{**unknown, "at": Route(()), "origins": {}, **known})


def said(*attempts: Attempt, every: int | None = None, **more: Any) -> list[str]:
    """The lines of a job that is expected to run for three hours; ``every``: seconds between its checkpoints."""
    schedule = saving(every) if every else None
    length = Length(seconds=3 * HOUR, basis=Basis.EXPECTED, schedule=schedule)
    return list(details(Course("a", "team/a", "research", length, attempts, **more)))[1:]


def stopped(ending: Ending, **more: Any) -> Attempt:
    """An attempt of two hours."""
    return Attempt(0, 2 * HOUR, ending, TWO, **more)


@pytest.mark.parametrize(
    ("times", "line"),
    [
        ((HOUR,), "at 1h: its pods"),
        ((HOUR, 2 * HOUR, 3 * HOUR), "at 1h, 2h, 3h: its pods"),
        (tuple(HOUR * each for each in range(1, 5)), "at 1h, 2h, 3h and 1 more time: its pods"),
        (tuple(HOUR * each for each in range(1, 6)), "at 1h, 2h, 3h and 2 more times: its pods"),
    ],
)
def test_it_was_put_back(times: tuple[int, ...], line: str) -> None:
    (found,) = said(evicted=times)
    assert found == f"put back into its queue {line} were not ready in time"


def test_it_was_given_up() -> None:
    assert said(evicted=(HOUR, 2 * HOUR), deactivated=2 * HOUR)[1:] == [
        "deactivated at 2h, after it was put back 2 times"
    ]


@pytest.mark.parametrize(
    ("attempt", "every", "lines"),
    [
        (
            stopped(Ending.PREEMPTED, by="b", lost=HOUR),
            None,
            [
                "preempted by `b` at 2h: 1h of work are lost, as far as is known: the spec has no `checkpoint.every`"
            ],
        ),
        (
            stopped(Ending.PREEMPTED, lost=HOUR),
            HOUR,
            ["preempted at 2h: 1h of work are lost on average"],
        ),
        (
            stopped(Ending.CLOSED, by="gpu", lost=HOUR, saved=HOUR),
            HOUR,
            [
                "cut off at 2h, when the block of `gpu` closes: 1h of work are lost",
                "its last checkpoint before that is of 1h",
            ],
        ),
        (
            stopped(Ending.CLOSED, by="gpu", lost=2 * HOUR),
            HOUR,
            ["cut off at 2h, when the block of `gpu` closes: 2h of work are lost"],
        ),
        (stopped(Ending.DONE), HOUR, []),
        (Attempt(0, None, Ending.OPEN, TWO), HOUR, []),
    ],
)
def test_what_stopped_it(attempt: Attempt, every: int | None, lines: list[str]) -> None:
    assert said(attempt, every=every) == lines


def test_it_goes_on_after_another() -> None:
    again = Attempt(3 * HOUR, 4 * HOUR, Ending.DONE, TWO, after=("b", "gpu"))
    assert said(stopped(Ending.PREEMPTED), again, every=HOUR)[1:] == [
        "goes on at 3h, after `b`, `gpu`"
    ]
    alone = Attempt(3 * HOUR, 4 * HOUR, Ending.DONE, TWO)
    assert said(stopped(Ending.PREEMPTED), alone, every=HOUR)[1:] == ["goes on at 3h"]
    assert said(Attempt(HOUR, 2 * HOUR, Ending.DONE, TWO, after=("b",))) == [
        "starts at 1h, after `b`"
    ]


def shown(paid: dict[str, Paid], **more: Any) -> list[str]:
    """The lines below those of the jobs: a pool of four nodes, of which two are in use for two hours."""
    use = PoolUse("gpu", 4, ((0, 2), (2 * HOUR, 0)))
    given = {"pools": (use,), "horizon": 2 * HOUR, **more}
    timeline = Timeline("lab", None, (), **given)
    return [line.strip() for line in text([(timeline, paid)]).splitlines()[1:]]


@pytest.mark.parametrize(
    ("paid", "lines"),
    [
        (Paid(4, 10.0, True), ["idle in gpu: 4.0 of 8.0 node hours that are paid, 40 USD"]),
        (Paid(4, 10.0, False), ["idle in gpu: 4.0 of 8.0 node hours that are paid, ≈ 40 USD"]),
        (
            Paid(4, None, True),
            ["idle in gpu: 4.0 of 8.0 node hours that are paid; their price is not known"],
        ),
        (Paid(0, 10.0, True), []),
        (None, []),
    ],
)
def test_what_nobody_uses_of_what_is_paid(paid: Paid | None, lines: list[str]) -> None:
    known = {} if paid is None else {"gpu": paid}
    assert shown(known) == lines
    assert shown(known, horizon=0) == []
    use = PoolUse("gpu", 4, ((0, 0),), opens=3 * HOUR)  # a block that opens later
    assert shown(known, pools=(use,)) == []
    (cluster,) = values([(Timeline("lab", None, (), (use,), 4 * HOUR), known)])["clusters"]
    (pool,) = cluster["pools"]
    idle = {key: pool.get(key) for key in ("paidNodeHours", "idleNodeHours", "idleUsd")}
    if paid is None:
        assert set(idle.values()) == {None}
        assert "idleUsd" not in pool
    else:
        usd = None if paid.usd is None else paid.nodes * paid.usd
        assert list(idle.values()) == [paid.nodes, paid.nodes, usd]


def test_what_it_rests_on_stands_below() -> None:
    more = {"left_out": (("b", "no queue"),), "notes": ("zones are assumed",), "settled": False}
    assert shown({}, **more) == [
        "b  not simulated: no queue",
        "note: zones are assumed",
        "note: some jobs preempt each other again and again; the state after many rounds is shown",
    ]


@pytest.mark.parametrize(
    ("attempts", "line"),
    [((), "does not run: no room"), ((stopped(Ending.DONE),), "does not go on: no room")],
)
def test_it_never_runs_or_goes_on(attempts: tuple[Attempt, ...], line: str) -> None:
    assert said(*attempts, reason="no room") == [line]


def test_it_waits_for_what_nothing_ends() -> None:
    assert said(behind=("b", "c")) == ["waits for `b`, `c`, which nothing ends"]


def test_the_summary_says_how_many_jobs_there_are() -> None:
    world = flat(queue("a", 32), nodes=2)
    assert summary(run(world)) == "no job to simulate"
    assert summary(run(world, (job("one", "a", 1), hours(2)))).startswith("1 job")
