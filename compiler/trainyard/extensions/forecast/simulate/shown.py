"""Forecasts as text for people, and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict, Where
from trainyard.language.diagnostics.words import numbered

_MARGIN = "  "


def text(forecasts: Sequence[Forecast]) -> str:
    """All clusters, one after the other."""
    return "\n".join("\n".join(_lines(each)) + "\n" for each in forecasts)


def _lines(forecast: Forecast) -> Iterator[str]:
    simulated = [each for each in forecast.verdicts if each.kind is not Kind.UNKNOWN]
    yield f"{forecast.cluster}: {_summary(forecast, len(simulated))}"
    width = max((len(each.job) for each in forecast.verdicts), default=0)
    for verdict in forecast.verdicts:
        first, *more = _verdict(verdict)
        yield f"{_MARGIN}{verdict.job:{width}}  {first}"
        for line in more:
            yield f"{_MARGIN}{'':{width}}    {line}"
    for note in forecast.notes:
        yield f"{_MARGIN}note: {note}"
    if not forecast.settled:
        yield f"{_MARGIN}note: some jobs preempt each other again and again; the state after many rounds is shown"


def _summary(forecast: Forecast, count: int) -> str:
    if not count:
        return "no job to simulate"
    jobs = numbered(count, "job")
    if not forecast.waiting:
        return f"{jobs} at once, all are admitted"
    admitted = count - len(forecast.waiting)
    names = ", ".join(f"`{name}`" for name in forecast.waiting)
    return f"{jobs} at once, {admitted} admitted; as Flux creates them not: {names}"


def why(verdict: Verdict) -> str:
    """In one line what keeps a job from being admitted for certain; empty where nothing does."""
    if verdict.kind is Kind.WAITS:
        names = _names(verdict.blockers) or "another job of its queue"
        return f"{names} until {verdict.until}" if verdict.until else names
    return "; ".join((*verdict.conditions, *verdict.conflict))


def helps(verdict: Verdict) -> str:
    """The changes that help, each of them alone."""
    return ", or ".join(verdict.edits)


def _verdict(verdict: Verdict) -> Iterator[str]:
    kind = str(verdict.kind)
    if verdict.kind is Kind.UNKNOWN:
        yield f"{kind}: {why(verdict)}"
    elif verdict.kind is Kind.FITS:
        yield f"{kind}  {places(verdict)}".rstrip()
    elif verdict.kind in (Kind.ONLY_IF, Kind.WAITS):
        yield f"{kind} {why(verdict)}"
        if verdict.where:
            yield places(verdict)
    else:
        yield kind
        yield from (f"because of {each}" for each in verdict.conflict)
    if verdict.preempts:
        yield f"ends {_names(verdict.preempts)}"
    if verdict.edits:
        yield f"helps: {helps(verdict)}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def places(verdict: Verdict) -> str:
    """Where the pods of a job run, in words."""
    return ", ".join(map(_place, verdict.where))


def _place(where: Where) -> str:
    parts = [part for part in (where.zone, where.domain) if part]
    place = f" in {' '.join(parts)}" if parts else ""
    pods = "" if where.pods == where.nodes else f"{numbered(where.pods, 'pod')} on "
    return f"{pods}{numbered(where.nodes, 'node')} of {where.pool}{place}"


def values(forecasts: Sequence[Forecast]) -> dict[str, Any]:
    """What ``--format json`` prints. Keys of a job that say nothing are left out."""
    return {"clusters": [_cluster(each) for each in forecasts]}


def _cluster(forecast: Forecast) -> dict[str, Any]:
    return {
        "name": forecast.cluster,
        "settled": forecast.settled,
        "jobs": [_job(each) for each in forecast.verdicts],
        "waiting": list(forecast.waiting),
        "notes": list(forecast.notes),
    }


def _job(verdict: Verdict) -> dict[str, Any]:
    job: dict[str, Any] = {
        "name": verdict.job,
        "queue": verdict.queue,
        "verdict": str(verdict.kind),
        "pods": verdict.pods,
        "until": verdict.until,
        "where": [each._asdict() for each in verdict.where],
    }
    for key in ("conditions", "blockers", "conflict", "edits", "preempts"):
        job[key] = list(getattr(verdict, key))
    return {key: value for key, value in job.items() if value not in ("", 0, [])}
