"""The checkpoints of each job: how large, how long they take, how often they are best saved, what a failure costs."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.core.jobs.plan import CheckpointSchedule
from compiler.core.jobs.saving import lasting
from compiler.plan.units import Duration
from compiler.report.bill import node_price
from compiler.report.blocks import Block, Heading, paragraph, table
from compiler.report.subject import Subject

_UNKNOWN = "?"


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job of which the size of a checkpoint is known, by its ``model``."""
    schedules = [
        schedule for schedule in subject.plan.of(CheckpointSchedule) if schedule.size is not None
    ]
    if not schedules:
        return
    yield Heading("Checkpoints")
    yield paragraph(
        "Weights and optimizer, without bursts. A failure repeats half an interval and reads the checkpoint, on all "
        "nodes of the job. At the best interval saves and failures take the least time (Young 1974, Daly 2006)."
    )
    header = (
        "job",
        "size:",
        "kept:",
        "write:",
        "read:",
        "as fast as",
        "a failure every:",
        "saved every:",
        "best:",
        "time lost:",
        "a failure costs:",
    )
    rows = (_row(subject, schedule) for schedule in schedules)
    yield table(header, rows)


def _row(subject: Subject, schedule: CheckpointSchedule) -> tuple[str, ...]:
    every, best = schedule.every, schedule.best
    if every is not None:
        lost = schedule.lost(every)
    else:
        lost = None
    return (
        schedule.name,
        f"{(schedule.size or 0) / 1024**3:,.0f} GiB",
        str(schedule.keep),
        _time(schedule.write),
        _time(schedule.read),
        schedule.write_bound or _UNKNOWN,
        _time(schedule.mtbf),
        _interval(every),
        _interval(best),
        f"{lost:.1%}" if lost is not None else _UNKNOWN,
        _cost(subject, schedule),
    )


def _interval(seconds: int | None) -> str:
    if seconds is None:
        return _UNKNOWN
    return str(Duration(seconds))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return _UNKNOWN
    return lasting(seconds)


def _cost(subject: Subject, schedule: CheckpointSchedule) -> str:
    """Node hours that a failure costs at the interval of the spec, and their price on demand."""
    repeated = None
    if schedule.every is not None:
        repeated = schedule.repeated(schedule.every)
    if repeated is None:
        return _UNKNOWN
    hours = schedule.nodes * repeated / 3600
    text = f"{hours:,.1f} node hours"
    pool = subject.pool(schedule.pool)
    if pool is None:
        return text
    price = node_price(subject, pool.instance_types)
    if price is None:
        return text
    exact = price.region == subject.spec.region
    about = "" if exact else "≈ "
    dollars = hours * price.usd
    return f"{text}, {about}${dollars:,.0f}"
