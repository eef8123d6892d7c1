"""Timelines as text for people, with a bar for each job, and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from trainyard.core.jobs.length import Basis, Length
from trainyard.extensions.forecast.timeline.course import Attempt, Course, Ending, PoolUse, Timeline
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import numbered
from trainyard.language.units import Duration

_MARGIN = "  "
_BAR = 40
_RUNS, _WAITS, _GONE = "#", ".", " "
_DAY = 24 * 3600
_TIMES = 3


@dataclass(frozen=True, slots=True)
class Paid:
    """The ``nodes`` of a pool that are paid for whether jobs run or not, and USD an hour of one, where it is known;
    ``exact``: unless it is the price of another Region."""

    nodes: int
    usd: float | None
    exact: bool = True


def text(found: Sequence[tuple[Timeline, Mapping[str, Paid]]]) -> str:
    """All clusters, one after the other."""
    return "\n".join("\n".join(_lines(each, paid)) + "\n" for each, paid in found)


def _lines(timeline: Timeline, paid: Mapping[str, Paid]) -> Iterator[str]:
    yield f"{timeline.cluster}: {summary(timeline)}"
    width = max((len(each.job) for each in timeline.courses), default=0)
    for course in timeline.courses:
        yield f"{_MARGIN}{course.job:{width}}  {bounds(course):<24} |{_bar(course, timeline.horizon)}|"
        for line in details(course):
            yield f"{_MARGIN}{'':{width}}    {line}"
    for title, reason in timeline.left_out:
        yield f"{_MARGIN}{title:{width}}  not simulated: {reason}"
    for pool in timeline.pools:
        line = _idle(pool, paid.get(pool.pool), timeline.horizon)
        if line:
            yield f"{_MARGIN}{line}"
    for note in timeline.notes:
        yield f"{_MARGIN}note: {note}"
    if not timeline.settled:
        yield f"{_MARGIN}note: some jobs preempt each other again and again; the state after many rounds is shown"


def summary(timeline: Timeline) -> str:
    """How many jobs there are, and when the last one ends."""
    if not timeline.courses:
        return "no job to simulate"
    begins = ""
    if timeline.origin is not None:
        begins = f"; 0s is {moment(timeline.origin)}"
    jobs = numbered(len(timeline.courses), "job")
    if not timeline.horizon:
        return f"{jobs}, and none of a known end{begins}"
    return f"{jobs}, the last known end is after {span(timeline.horizon)}{begins}"


def moment(seconds: int) -> str:
    """A second since 1970 as a timestamp."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def span(seconds: int) -> str:
    """A span of time, with days where there are some."""
    days, rest = divmod(seconds, _DAY)
    if not days:
        return str(Duration(rest))
    if not rest:
        return f"{days}d"
    return f"{days}d{Duration(rest)}"


def bounds(course: Course) -> str:
    """From when until when a job runs."""
    if course.start is None:
        return "never starts"
    start = span(course.start)
    if course.end is not None:
        return f"{start} to {span(course.end)}"
    return f"{start}, no end"


def _bar(course: Course, horizon: int) -> str:
    """The course of a job on a line: where it waits, where it runs, and where it has ended or is not there."""
    if not horizon:
        return _RUNS * _BAR if course.attempts else _WAITS * _BAR
    drawn = []
    for index in range(_BAR):
        at = (2 * index + 1) * horizon / (2 * _BAR)
        drawn.append(_state(course, at))
    return "".join(drawn)


def _state(course: Course, at: float) -> str:
    for attempt in course.attempts:
        if attempt.start <= at and (attempt.end is None or at < attempt.end):
            return _RUNS
    if course.end is not None and at >= course.end:
        return _GONE
    return _WAITS


def details(course: Course) -> Iterator[str]:
    """On which nodes a job runs, for how long, and what stops it."""
    yield _nodes_and_length(course)
    for number, attempt in enumerate(course.attempts):
        if number or attempt.after:
            yield _started(attempt, again=bool(number))
        yield from _stopped(attempt, course)
    yield from _evicted(course)
    if course.behind:
        yield f"waits for {', '.join(f'`{name}`' for name in course.behind)}, which nothing ends"
    elif course.reason:
        yield f"does not {'go on' if course.attempts else 'run'}: {course.reason}"


def _evicted(course: Course) -> Iterator[str]:
    """When Kueue took the quota of a job back, since its nodes did not come."""
    if course.evicted:
        times = ", ".join(map(span, course.evicted[:_TIMES]))
        more = len(course.evicted) - _TIMES
        rest = f" and {numbered(more, 'more time')}" if more > 0 else ""
        yield f"put back into its queue at {times}{rest}: its pods were not ready in time"
    if course.deactivated is not None:
        again = numbered(len(course.evicted), "time")
        yield f"deactivated at {span(course.deactivated)}, after it was put back {again}"


def _nodes_and_length(course: Course) -> str:
    text = how_long(course.length)
    if not course.attempts:
        return text
    shares = course.attempts[0].shares
    nodes = ", ".join(f"{numbered(share.nodes, 'node')} of {share.pool}" for share in shares)
    return f"{nodes}, {text}"


def how_long(length: Length) -> str:
    """How long a job runs, and how that is known."""
    if length.seconds is None:
        return "how long it runs is not known: it has no `expected`, estimate or timeout"
    seconds = span(length.seconds)
    if length.basis is Basis.EXPECTED:
        return f"expected to run {seconds}"
    if length.basis is Basis.ESTIMATE:
        least = span(length.least or 0)
        return f"estimated to run {least} to {seconds}, of which the longer is taken"
    return f"runs until its timeout of {seconds}, at most"


def _started(attempt: Attempt, *, again: bool) -> str:
    verb = "goes on" if again else "starts"
    line = f"{verb} at {span(attempt.start)}"
    if attempt.after:
        line += f", after {', '.join(f'`{name}`' for name in attempt.after)}"
    return line


def _stopped(attempt: Attempt, course: Course) -> Iterator[str]:
    if attempt.end is None or attempt.ending is Ending.DONE:
        return
    end = span(attempt.end)
    if attempt.ending is Ending.PREEMPTED:
        by = f" by `{attempt.by}`" if attempt.by else ""
        yield f"preempted{by} at {end}: {_lost(attempt, course)}"
        return
    yield f"cut off at {end}, when the block of `{attempt.by}` closes: {_lost(attempt, course)}"
    if attempt.saved is not None:
        yield f"its last checkpoint before that is of {span(attempt.saved)}"


def _lost(attempt: Attempt, course: Course) -> str:
    lost = span(attempt.lost)
    if course.length.every is None:
        return f"{lost} of work are lost, as far as is known: the spec has no `checkpoint.every`"
    if attempt.ending is Ending.PREEMPTED:
        return f"{lost} of work are lost on average"
    return f"{lost} of work are lost"


def _idle(pool: PoolUse, paid: Paid | None, horizon: int) -> str:
    """What nobody uses of the nodes that are paid for; empty where there are none."""
    if paid is None or not paid.nodes:
        return ""
    total = pool.paid(paid.nodes, horizon)
    if not total:
        return ""
    idle = pool.idle(paid.nodes, horizon)
    line = f"idle in {pool.pool}: {idle:,.1f} of {total:,.1f} node hours that are paid"
    if paid.usd is None:
        return f"{line}; their price is not known"
    about = "" if paid.exact else "≈ "
    return f"{line}, {about}{idle * paid.usd:,.0f} USD"


def values(found: Sequence[tuple[Timeline, Mapping[str, Paid]]]) -> dict[str, Any]:
    """What ``--format json`` prints. Times are seconds from the beginning."""
    return {"clusters": [_cluster(each, paid) for each, paid in found]}


def _cluster(timeline: Timeline, paid: Mapping[str, Paid]) -> dict[str, Any]:
    return {
        "name": timeline.cluster,
        "begins": None if timeline.origin is None else moment(timeline.origin),
        "settled": timeline.settled,
        "lastEnd": timeline.horizon,
        "jobs": [_job(each) for each in timeline.courses],
        "notSimulated": [{"name": name, "reason": why} for name, why in timeline.left_out],
        "pools": [_pool(each, paid.get(each.pool), timeline.horizon) for each in timeline.pools],
        "notes": list(timeline.notes),
    }


def _job(course: Course) -> dict[str, Any]:
    return {
        "name": course.job,
        "queue": course.queue,
        "length": course.length.seconds,
        "basis": str(course.length.basis),
        "start": course.start,
        "end": course.end,
        "attempts": [_attempt(each) for each in course.attempts],
        "waitsFor": list(course.behind),
        "reason": course.reason,
        "evictedNotReady": list(course.evicted),
        "deactivated": course.deactivated,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "start": attempt.start,
        "end": attempt.end,
        "ending": str(attempt.ending),
        "by": attempt.by,
        "nodes": [share._asdict() for share in attempt.shares],
        "lost": attempt.lost,
        "lastCheckpoint": attempt.saved,
        "after": list(attempt.after),
    }


def _pool(pool: PoolUse, paid: Paid | None, horizon: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": pool.pool,
        "nodes": pool.nodes,
        "opens": pool.opens,
        "closes": pool.closes,
        "used": [{"from": begin, "nodes": used} for begin, used in pool.steps],
    }
    if paid is not None:
        idle = pool.idle(paid.nodes, horizon)
        row["paidNodeHours"] = round(pool.paid(paid.nodes, horizon), 2)
        row["idleNodeHours"] = round(idle, 2)
        row["idleUsd"] = None if paid.usd is None else round(idle * paid.usd, 2)
    return row
