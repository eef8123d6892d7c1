"""What is said of a job: as values, as text for people, and as values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import numbered


class Kind(StrEnum):
    """The four verdicts, and that there is none."""

    FITS = "FITS"
    ONLY_IF = "FITS ONLY IF"
    WAITS = "WAITS FOR"
    NEVER = "NEVER FITS"
    UNKNOWN = "NOT SIMULATED"


class Where(NamedTuple):
    """Pods of a job that would run in one place: the pool, its zone, and the domain of the topology below it, empty
    where there is none or it is not known yet."""

    pool: str
    zone: str
    domain: str
    pods: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a job if all jobs of its cluster are submitted at once.

    ``conditions``: of ``FITS ONLY IF`` what must hold, each a sentence. ``blockers``: of ``WAITS FOR`` the jobs without
    which it would fit, of which none could be left out; ``until``: the time after which it starts, in words, where that
    is known. ``conflict``: of ``NEVER FITS`` the constraints that exclude
    it, of which none could be left out. ``edits``: the smallest changes that were found to help, each tried out.
    ``pods``: so many of its pods are admitted. ``preempts``: jobs that were admitted before it and are ended for it.
    """

    job: str
    queue: str
    kind: Kind
    pods: int = 0
    where: tuple[Where, ...] = ()
    conditions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    until: str = ""
    conflict: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    preempts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forecast:
    """The verdicts on all jobs of a cluster, in the order of their names, and what they rest on.

    ``waiting``: the jobs that are not admitted if they come as Flux creates them. ``settled``: false
    where jobs would preempt each other without an end.
    """

    cluster: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    settled: bool = True

    def verdicts_of(self, kind: Kind) -> tuple[Verdict, ...]:
        """The verdicts of one kind."""
        return tuple(each for each in self.verdicts if each.kind is kind)


_MARGIN = "  "


def text(forecasts: Sequence[Forecast]) -> str:
    """All clusters, one after the other."""
    return "\n".join("\n".join(_forecast_lines(each)) + "\n" for each in forecasts)


def _forecast_lines(forecast: Forecast) -> Iterator[str]:
    simulated = [each for each in forecast.verdicts if each.kind is not Kind.UNKNOWN]
    yield f"{forecast.cluster}: {_forecast_summary(forecast, len(simulated))}"
    width = max((len(each.job) for each in forecast.verdicts), default=0)
    for verdict in forecast.verdicts:
        first, *more = _verdict_lines(verdict)
        yield f"{_MARGIN}{verdict.job:{width}}  {first}"
        for line in more:
            yield f"{_MARGIN}{'':{width}}    {line}"
    for note in forecast.notes:
        yield f"{_MARGIN}note: {note}"
    if not forecast.settled:
        yield f"{_MARGIN}note: some jobs preempt each other again and again; the state after many rounds is shown"


def _forecast_summary(forecast: Forecast, count: int) -> str:
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
        names = _quoted_names(verdict.blockers) or "another job of its queue"
        return f"{names} until {verdict.until}" if verdict.until else names
    return "; ".join((*verdict.conditions, *verdict.conflict))


def helps(verdict: Verdict) -> str:
    """The changes that help, each of them alone."""
    return ", or ".join(verdict.edits)


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
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
        yield f"ends {_quoted_names(verdict.preempts)}"
    if verdict.edits:
        yield f"helps: {helps(verdict)}"


def _quoted_names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def places(verdict: Verdict) -> str:
    """Where the pods of a job run, in words."""
    return ", ".join(map(_place_words, verdict.where))


def _place_words(where: Where) -> str:
    parts = [part for part in (where.zone, where.domain) if part]
    place = f" in {' '.join(parts)}" if parts else ""
    pods = "" if where.pods == where.nodes else f"{numbered(where.pods, 'pod')} on "
    return f"{pods}{numbered(where.nodes, 'node')} of {where.pool}{place}"


def values(forecasts: Sequence[Forecast]) -> dict[str, Any]:
    """What ``--format json`` prints. Keys of a job that say nothing are left out."""
    return {"clusters": [_forecast_values(each) for each in forecasts]}


def _forecast_values(forecast: Forecast) -> dict[str, Any]:
    return {
        "name": forecast.cluster,
        "settled": forecast.settled,
        "jobs": [_verdict_values(each) for each in forecast.verdicts],
        "waiting": list(forecast.waiting),
        "notes": list(forecast.notes),
    }


def _verdict_values(verdict: Verdict) -> dict[str, Any]:
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
