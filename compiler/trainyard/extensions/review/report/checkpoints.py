"""The checkpoints of each job: how large, how long they take, how often they are best saved, what a failure costs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.core.jobs.saving import KEEPING, SIZE, best_reason, lasting
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
from trainyard.extensions.forecast.costs import node_price
from trainyard.extensions.forecast.subject import Subject
from trainyard.language.units import Duration

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


def _row(subject: Subject, schedule: CheckpointSchedule) -> tuple[Text, ...]:
    every = schedule.every
    size = f"{(schedule.size or 0) / 1024**3:,.0f} GiB"
    kept = "`checkpoint.keep`" if schedule.chosen else f"as many as TorchTitan keeps: {KEEPING}"
    return (
        schedule.name,
        Explained(
            size, f"weights and optimizer of what is trained, however they are sharded ({SIZE})"
        ),
        Explained(str(schedule.keep), kept),
        _transfer(schedule.write, schedule.write_speed, schedule.write_bound),
        _transfer(schedule.read, schedule.read_speed, schedule.read_bound),
        schedule.write_bound or _UNKNOWN,
        _between_failures(subject, schedule),
        _interval(every, "`checkpoint.every`"),
        _interval(schedule.best, best_reason(schedule)),
        _lost(schedule),
        _cost(subject, schedule),
    )


def _interval(seconds: int | None, why: str) -> Text:
    if seconds is None:
        return _UNKNOWN
    return Explained(str(Duration(seconds)), why)


def _transfer(seconds: float | None, speed: float | None, bound: str) -> Text:
    if seconds is None or speed is None:
        return _UNKNOWN
    return Explained(lasting(seconds), f"{speed:,.0f} MB/s, as fast as {bound}")


def _between_failures(subject: Subject, schedule: CheckpointSchedule) -> Text:
    if schedule.mtbf is None:
        return _UNKNOWN
    pool = subject.pool(schedule.pool)
    if pool is not None and pool.mean_time_between_failures is not None:
        why = f"`meanTimeBetweenFailures: {pool.mean_time_between_failures}` of a node, by {schedule.nodes} nodes"
    else:
        rate = subject.catalog.failure_rates.usual
        why = f"a GPU fails once in {rate.hours:,.0f} hours: {rate.counted} ({rate.source})"
    return Explained(lasting(schedule.mtbf), why)


def _lost(schedule: CheckpointSchedule) -> Text:
    lost = schedule.lost(schedule.every) if schedule.every is not None else None
    if lost is None:
        return _UNKNOWN
    why = "write / interval + interval / (2 × time between failures) (Young 1974)"
    if schedule.asynchronous:
        why = "interval / (2 × time between failures): training goes on while it saves (Young 1974)"
    return Explained(f"{lost:.1%}", why)


def _cost(subject: Subject, schedule: CheckpointSchedule) -> Text:
    """Node hours that a failure costs at the interval of the spec, and their price on demand."""
    repeated = None
    if schedule.every is not None:
        repeated = schedule.repeated(schedule.every)
    if repeated is None:
        return _UNKNOWN
    hours = schedule.nodes * repeated / 3600
    text = f"{hours:,.1f} node hours"
    why = f"{schedule.nodes} nodes × (half an interval + the time to read)"
    pool = subject.pool(schedule.pool)
    price = node_price(subject, pool.instance_types) if pool is not None else None
    if price is None:
        return Explained(text, why)
    exact = price.region == subject.spec.region
    about = "" if exact else "≈ "
    dollars = hours * price.usd
    return Explained(
        f"{text}, {about}${dollars:,.0f}", f"{why}, at ${price.usd:,.4f} a node and hour on demand"
    )
