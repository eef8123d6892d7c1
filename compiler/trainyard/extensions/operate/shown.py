"""Statuses as text for people, and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.extensions.operate.proof import doubt
from trainyard.extensions.operate.status import Cost, JobStatus, Status, summary
from trainyard.extensions.operate.waiting import Place

_MARGIN = "  "
_HEADER = ("JOB", "STATE", "FOR", "NODES", "ATTEMPT", "QUEUE", "PLACE", "COST SO FAR")
_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def text(status: Status) -> str:
    """A table of the jobs, each with why it waits below it; then the runs that the spec does not ask for."""
    lines = [
        f"{status.cluster}: {summary(status.jobs)} (context {status.context}{doubt(status.proven)})"
    ]
    lines += _table(status.jobs)
    if status.hanging:
        lines += ["", "not applied by Flux, and what comes after it waits:"]
        lines += [
            f"  Kustomization {each.name}: {each.reason}: {each.message}" for each in status.hanging
        ]
    if status.others:
        lines += ["", f"not in the spec: {summary(status.others)}"]
        lines += _table(status.others)
    return "\n".join(lines) + "\n"


def _table(jobs: Sequence[JobStatus]) -> Iterator[str]:
    if not jobs:
        return
    rows = [_HEADER, *map(_row, jobs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, job in zip(rows, (None, *jobs), strict=True):
        cells = map(str.ljust, row, widths)
        yield f"{_MARGIN}{_MARGIN.join(cells)}".rstrip()
        if job is not None:
            yield from (f"{_MARGIN}{_MARGIN}{line}" for line in _notes(job))


def _row(job: JobStatus) -> tuple[str, ...]:
    return (
        f"{job.namespace}/{job.job}",
        str(job.state),
        "-" if job.seconds is None else age(job.seconds),
        f"{job.nodes.running}/{job.nodes.wanted}",
        str(job.attempts or "-"),
        job.queue or "-",
        _place(job.place),
        _cost(job.cost),
    )


def _place(place: Place | None) -> str:
    if place is None:
        return "-"
    return f"{place.number} of {place.total}"


def _cost(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    if cost.usd is None:
        return f"unknown: {cost.how}"
    region = f", price of {cost.of_region}" if cost.of_region else ""
    return f"${cost.usd:,.2f} ({cost.how}{region})"


def _notes(job: JobStatus) -> Iterator[str]:
    if job.kueue:
        yield f"Kueue: {job.kueue}"
    if job.why:
        yield f"that is: {job.why}"
    if job.forecast:
        yield f"by the spec: {job.forecast}"
    if job.saves is not None and not job.state.is_over:
        yield f"last checkpoint: {_last(job)} (the spec says one every {age(job.saves)})"


def _last(job: JobStatus) -> str:
    if job.saved is not None:
        return f"{age(job.saved)} ago"
    return "none yet" if job.unsaved else "unknown"


def age(seconds: float) -> str:
    """A time in its two largest units: ``2h5m``."""
    left = int(seconds)
    parts: list[str] = []
    for unit, size in _UNITS:
        count, left = divmod(left, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count}{unit}")
        elif parts:
            break
    return "".join(parts[:2])


def values(status: Status) -> dict[str, Any]:
    """What ``--format json`` prints: every key is always there, and ``null`` where it is unknown or does not apply."""
    return {
        "cluster": status.cluster,
        "context": status.context,
        "proven": status.proven,
        "jobs": [_job(job) for job in status.jobs],
        "notInSpec": [_job(job) for job in status.others],
        "hanging": [each._asdict() for each in status.hanging],
    }


def _job(job: JobStatus) -> dict[str, Any]:
    cost = job.cost
    return {
        "name": job.job,
        "namespace": job.namespace,
        "kind": job.kind,
        "object": job.object or None,
        "state": str(job.state),
        "secondsInState": None if job.seconds is None else int(job.seconds),
        "nodes": job.nodes._asdict(),
        "attempts": job.attempts,
        "queue": job.queue or None,
        "place": None if job.place is None else job.place._asdict(),
        "kueue": job.kueue or None,
        "why": job.why or None,
        "forecast": job.forecast or None,
        "checkpoint": {
            "secondsAgo": None if job.saved is None else int(job.saved),
            "secondsBetween": job.saves,
        },
        "cost": None if cost is None else _cost_values(cost),
    }


def _cost_values(cost: Cost) -> dict[str, Any]:
    usd = None if cost.usd is None else round(cost.usd, 2)
    return {"usd": usd, "how": cost.how, "priceOfRegion": cost.of_region or None}
