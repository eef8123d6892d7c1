"""``failures``: what becomes of each job when something fails, part by part, and what a week of it loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from trainyard.cli.output import as_json
from trainyard.cli.streams import UsageError
from trainyard.extensions.forecast.blocks import plain_text
from trainyard.extensions.forecast.failures.outcome import Outcome
from trainyard.extensions.forecast.failures.parts import Part, Span
from trainyard.extensions.forecast.failures.week import FORMULA, Loss, Week
from trainyard.extensions.forecast.sections.failures import (
    Walk,
    and_more,
    between,
    costs,
    joined,
    repeats,
    spanned,
    walks,
)
from trainyard.extensions.forecast.subjects import subject
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.diagnostics.words import numbered
from trainyard.language.units import Duration
from trainyard.run.outcome import Options
from trainyard.run.outcome import Outcome as Done

_WIDTH = 20
_COLUMNS = 120


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster with its jobs."""

    name: str
    walks: Sequence[Walk]


def clusters(done: Done, options: Options, job: str | None) -> list[Cluster]:
    """The jobs of each cluster, all or one. Raises ``UsageError`` where none has that name."""
    found = []
    names: set[str] = set()
    for compilation in done.compilations:
        if compilation.plan is None or compilation.spec is None:
            continue
        known = walks(subject(compilation, options))
        names.update(walk.job.name for walk in known)
        chosen = [walk for walk in known if job in (None, walk.job.name)]
        found.append(Cluster(compilation.name, chosen))
    if job is not None and job not in names and found:
        hint = name_meant(job, names)
        more = f": {hint}" if hint else ""
        raise UsageError(f"`--job {job}`: there is no such job{more}")
    return found


def printed(found: Sequence[Cluster], format: str) -> str:
    """The jobs in a format: ``text`` or ``json``."""
    if format == "json":
        return as_json({"clusters": [_cluster(each) for each in found]})
    lines: list[str] = []
    for each in found:
        for walk in each.walks:
            lines += [*_text(each.name, walk), ""]
    if not lines:
        lines = ["there is no job", ""]
    return "\n".join(lines[:-1]) + "\n"


def _text(cluster: str, walk: Walk) -> Iterator[str]:
    job = walk.job
    gpus = f", {numbered(job.gpus, 'GPU')}" if job.gpus else ""
    yield f"{job.name} in {cluster}: {numbered(job.nodes, 'node')} of pool {job.gang.pool}{gpus}"
    for outcome in walk.outcomes:
        yield ""
        yield f"  {outcome.title}"
        yield from _lines(walk, outcome)
    yield ""
    yield from _week(walk)


def _lines(walk: Walk, outcome: Outcome) -> Iterator[str]:
    yield _line("notices", outcome.notices)
    yield _line("acts", outcome.acts)
    yield _line("goes on", str(outcome.resumes))
    if outcome.needs:
        yield _line("needs", outcome.needs)
    if outcome.span is not None:
        yield _line("first new step after", spanned(outcome.span))
        for part in outcome.parts:
            yield _filled(f"      {part.name:<{_WIDTH}} {between(part):<14} ", part.why)
    if not outcome.is_harmless:
        yield _line("repeats", plain_text(repeats(outcome)))
        yield _line("costs", plain_text(costs(walk, outcome)))
    yield _line("source", outcome.source)


def _line(name: str, text: str) -> str:
    return _filled(f"    {name:<{_WIDTH + 2}} ", text)


def _filled(head: str, text: str) -> str:
    """A text behind a head, in lines of which each begins below the first."""
    return fill(
        text,
        _COLUMNS,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _week(walk: Walk) -> Iterator[str]:
    yield "  a week in which it runs all the time"
    week = walk.week
    if week is None:
        yield _line("failures", _without_week(walk))
        return
    for rate in week.rates:
        yield _line("failures", f"{rate.failures:,.2f} by {rate.by}")
    schedule = walk.job.schedule
    every = schedule.every if schedule is not None else None
    if walk.loss is None:
        yield _line("lost", "not known: `checkpoint.every` says how much is repeated")
    else:
        head = "lost" if every is None else f"lost, every {Duration(every)}"
        yield _line(head, _lost(walk, week, walk.loss))
    if schedule is not None and schedule.best is not None and walk.loss_at_best is not None:
        yield _line(f"best: every {Duration(schedule.best)}", _lost(walk, week, walk.loss_at_best))
    yield _line("source", FORMULA)


def _without_week(walk: Walk) -> str:
    if walk.job.retries == 0:
        return "nothing starts it again after the first"
    return "not known without GPUs: `meanTimeBetweenFailures` of the pool says how many"


def _lost(walk: Walk, week: Week, loss: Loss) -> str:
    hours = joined(f"{loss.least:,.1f}", f"{loss.most:,.1f}")
    share = joined(f"{loss.least / week.node_hours:.1%}", f"{loss.most / week.node_hours:.1%}")
    text = f"{hours} node hours{and_more(loss)}, {share} of all"
    if walk.usd_hour is None:
        return f"{text}; their price is not known"
    usd = joined(f"{loss.least * walk.usd_hour:,.0f}", f"{loss.most * walk.usd_hour:,.0f}")
    about = "" if walk.exact else "≈ "
    return f"{text}, {about}{usd} USD"


# --- for programs


def _cluster(cluster: Cluster) -> Mapping[str, Any]:
    return {"cluster": cluster.name, "jobs": [_job(walk) for walk in cluster.walks]}


def _job(walk: Walk) -> Mapping[str, Any]:
    job = walk.job
    return {
        "job": job.name,
        "namespace": job.gang.namespace,
        "nodes": job.nodes,
        "gpus": job.gpus,
        "retries": job.retries,
        "usdAnHourOfANode": _rounded(walk.usd_hour, 4),
        "failures": [_failure(walk, outcome) for outcome in walk.outcomes],
        "week": None if walk.week is None else _week_values(walk, walk.week),
    }


def _failure(walk: Walk, outcome: Outcome) -> Mapping[str, Any]:
    hours = outcome.node_hours
    usd = None
    if hours is not None and walk.usd_hour is not None:
        usd = [_rounded(each * walk.usd_hour, 2) for each in hours]
    return {
        "failure": outcome.failure.key,
        "of": outcome.of or None,
        "notices": outcome.notices,
        "acts": outcome.acts,
        "resumes": outcome.resumes.name.lower(),
        "needs": outcome.needs or None,
        "firstNewStepAfter": None if outcome.span is None else _span(outcome.span),
        "parts": [_part(part) for part in outcome.parts],
        "repeats": None if outcome.repeated is None else list(outcome.repeated),
        "nodeHours": None if hours is None else [_rounded(each, 3) for each in hours],
        "usd": usd,
        "source": outcome.source or None,
    }


def _span(span: Span) -> Mapping[str, Any]:
    return {"least": round(span.least), "most": round(span.most), "unknown": list(span.unknown)}


def _part(part: Part) -> Mapping[str, Any]:
    most = None if part.most is None else round(part.most)
    return {"name": part.name, "least": round(part.least), "most": most, "why": part.why}


def _week_values(walk: Walk, week: Week) -> Mapping[str, Any]:
    schedule = walk.job.schedule
    return {
        "failures": [{"number": _rounded(rate.failures, 4), "by": rate.by} for rate in week.rates],
        "every": schedule.every if schedule is not None else None,
        "nodeHours": _loss(walk.loss),
        "best": schedule.best if schedule is not None else None,
        "nodeHoursAtBest": _loss(walk.loss_at_best),
        "source": FORMULA,
    }


def _loss(loss: Loss | None) -> list[float | None] | None:
    if loss is None:
        return None
    return [_rounded(loss.least, 3), _rounded(loss.most, 3)]


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
