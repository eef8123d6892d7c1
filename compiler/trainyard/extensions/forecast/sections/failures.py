"""What becomes of each job when something fails, what that costs, and what a week of it is expected to lose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.core.jobs.saving import best_reason
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
from trainyard.extensions.forecast.failures.footing import Footing, From
from trainyard.extensions.forecast.failures.footings import footings
from trainyard.extensions.forecast.failures.outcome import Outcome
from trainyard.extensions.forecast.failures.parts import Part, Span
from trainyard.extensions.forecast.failures.week import FORMULA, Loss, Week, week
from trainyard.extensions.forecast.platforms import outcomes_of, repair_of
from trainyard.extensions.forecast.sections.cost import number, usd
from trainyard.extensions.forecast.sections.spending import by_job
from trainyard.extensions.forecast.subject import Subject
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import first_of, numbered
from trainyard.language.units import Duration

_OUTCOMES = (
    "failure",
    "jobs",
    "who notices",
    "who acts",
    "goes on",
    "first new step after",
    "repeats",
    "costs",
)
_WEEKS = (
    "job",
    "GPUs:",
    "failures a week:",
    "lost a week:",
    "share:",
    "USD a week:",
    "saved every:",
    "best:",
    "lost at best:",
)


@dataclass(frozen=True, slots=True)
class Walk:
    """A job with the outcome of each of its failures, and its week. ``usd_hour``: of one node, where it is known,
    and ``exact``: by prices of the Region."""

    job: Footing
    outcomes: tuple[Outcome, ...]
    week: Week | None
    usd_hour: float | None
    exact: bool

    @property
    def loss(self) -> Loss | None:
        """What a week loses at the interval of the spec."""
        return self._loss(self.job.interval)

    @property
    def loss_at_best(self) -> Loss | None:
        """What a week loses at the best interval."""
        return self._loss(self.job.schedule.best if self.job.schedule is not None else None)

    def _loss(self, every: int | None) -> Loss | None:
        if self.week is None or every is None:
            return None
        return self.week.loss(every)


def walks(subject: Subject) -> list[Walk]:
    """Every job, in the order of the plan."""
    prices = {id(cost.job): cost for cost in by_job(subject)}
    found = []
    for job in footings(subject.reading, subject):
        known = tuple(outcomes_of(subject, job))
        cost = prices[id(job.gang)]
        of_node = None if cost.usd_hour is None else cost.usd_hour / job.nodes
        found.append(Walk(job, known, week(subject, job, known), of_node, cost.exact))
    return found


def section(subject: Subject) -> Iterator[Block]:
    """A line for each failure of jobs that are alike, then one for the week of each, then the repair of nodes."""
    if not subject.plan.of(Gang):
        return
    found = walks(subject)
    yield Heading("Failures")
    yield paragraph(
        "Who notices, who acts, and when the first new step is computed. At least: an error that the program notices "
        "at once, and a node that is free. At most: processes that hang, and a node that boots first. Costs are the "
        "nodes of the job until then, and the work that is done again. `trainyard failures` adds up the parts."
    )
    yield table(_OUTCOMES, _together(found))
    weeks = [walk for walk in found if walk.week is not None]
    if weeks:
        yield Heading("Failures in a week")
        yield paragraph(
            "Of a job that runs all week, by published failure rates: failures × (time until the first new step + half "
            f"an interval) + saves × the time to write one ({FORMULA})."
        )
        yield table(_WEEKS, map(_week_row, weeks))
    yield from repair_of(subject)


def _together(found: Iterable[Walk]) -> list[tuple[Text, ...]]:
    """One row for jobs and failures of which all else is the same, in the order of the failures."""
    jobs: dict[tuple[Text, ...], list[str]] = {}
    titles: dict[tuple[Text, ...], str] = {}
    order: dict[tuple[Text, ...], int] = {}
    for walk in found:
        for place, outcome in enumerate(walk.outcomes):
            row = (outcome.title, *_row(walk, outcome))
            jobs.setdefault(row, []).append(walk.job.name)
            order.setdefault(row, place)
    for row in sorted(jobs, key=lambda row: order[row]):
        alike = (first_of(jobs[row], _SHOWN), *row[1:])
        before = titles.get(alike)
        titles[alike] = str(row[0]) if before is None else f"{before}; {row[0]}"
    return [(title, *alike) for alike, title in titles.items()]


_SHOWN = 5


def _row(walk: Walk, outcome: Outcome) -> tuple[Text, ...]:
    acts = Explained(outcome.acts, outcome.source) if outcome.source else outcome.acts
    goes_on = str(outcome.resumes)
    if outcome.needs:
        goes_on += f"; needs {outcome.needs}"
    return (outcome.notices, acts, goes_on, _after(outcome), repeats(outcome), costs(walk, outcome))


def _after(outcome: Outcome) -> Text:
    if outcome.is_harmless:
        return "0s"
    span = outcome.span
    if span is None:
        return "never"
    return Explained(spanned(span), because(outcome.parts))


def between(part: Part) -> str:
    """How long a part takes, in words."""
    if part.most is None:
        return f"{time(part.least)} or more" if part.least else "?"
    return joined(time(part.least), time(part.most))


def spanned(span: Span) -> str:
    """From when to when, in words; what is not known of it is more."""
    if span.unknown:
        return f"{time(span.least)} to {time(span.most)} and more"
    return f"{time(span.least)} to {time(span.most)}"


def because(parts: Iterable[Part]) -> str:
    """Why each part takes as long as it does."""
    return "; ".join(f"{part.name} {between(part)} ({part.why})" for part in parts)


def repeats(outcome: Outcome) -> Text:
    """The work that is done again, in words."""
    if outcome.is_harmless:
        return "nothing"
    if outcome.repeated is None:
        return _unknown(outcome)
    usual, most = outcome.repeated
    if not most:
        return "nothing"
    if not usual:
        why = "0s where its program saves when it is told to stop, else up to an interval"
        return Explained(f"0s to {time(most)}", why)
    why = "half an interval, and a whole one (`checkpoint.every`)"
    if outcome.job.schedule is None:
        why = f"half of the job, and all of it ({outcome.job.length.basis})"
    return Explained(f"{time(usual)}, {time(most)} at most", why)


def _unknown(outcome: Outcome) -> Text:
    """The work that is done again, where the spec does not say how much that is."""
    if outcome.job.schedule is not None:
        return Explained("?", "`checkpoint.every` says how much")
    if outcome.resumes is From.SAVED:
        return Explained("?", "`checkpoint` says how much")
    limit = outcome.job.length.seconds
    if limit is None:
        return "all of it"
    return Explained(f"all of it, {time(limit)} at most", "`timeout`")


def costs(walk: Walk, outcome: Outcome) -> Text:
    """The node hours that are lost, and their price."""
    hours = outcome.node_hours
    if hours is None:
        return "?"
    if not hours[1]:
        return "0"
    span = outcome.span if outcome.holds else None
    nodes = numbered(walk.job.stopped, "node")
    why = f"{nodes} × work that is repeated"
    if span is not None:
        why = f"{nodes} × (time until the first new step + work that is repeated)"
    more = " and more" if span is not None and span.unknown else ""
    text = f"{_range(hours)} node hours{more}"
    if walk.usd_hour is None:
        return Explained(text, f"{why}; the price of a pool is not known")
    low, high = (usd(each * walk.usd_hour, exact=True, cents=False) for each in hours)
    about = "" if walk.exact else "≈ "
    return Explained(
        f"{text}, {about}{joined(low, high)}", f"{why}, at ${walk.usd_hour:,.4f} a node and hour"
    )


def _range(hours: tuple[float, float]) -> str:
    return joined(f"{hours[0]:,.1f}", f"{hours[1]:,.1f}")


def joined(low: str, high: str) -> str:
    """From one to another, once where they are the same."""
    return low if low == high else f"{low} to {high}"


def _week_row(walk: Walk) -> tuple[Text, ...]:
    job, loss, week = walk.job, walk.loss, walk.week
    assert week is not None
    rates = "; ".join(f"{rate.failures:,.2f} by {rate.by}" for rate in week.rates)
    return (
        job.name,
        Explained(str(job.gpus), f"all of {numbered(job.nodes, 'node')}"),
        Explained(_counts(week), rates),
        _lost(loss),
        _share(walk, loss),
        _usd(walk, loss),
        _every(job),
        _best(job),
        _lost(walk.loss_at_best),
    )


def _every(job: Footing) -> Text:
    if job.schedule is None or job.schedule.every is None:
        return "?"
    return Explained(str(Duration(job.schedule.every)), "`checkpoint.every`")


def _best(job: Footing) -> Text:
    if job.schedule is None or job.schedule.best is None:
        return "?"
    return Explained(str(Duration(job.schedule.best)), best_reason(job.schedule))


def _counts(week: Week) -> str:
    fewest, most = week.failures
    return joined(f"{fewest:,.2f}", f"{most:,.2f}")


def _lost(loss: Loss | None) -> Text:
    if loss is None:
        return Explained("?", "`checkpoint.every` says how much is repeated")
    saves = "saves not known" if loss.saves is None else f"{loss.saves:,.1f} of saves"
    why = (
        f"{_range(loss.waits)} until the first new steps, {_range(loss.repeats)} repeated, {saves}"
    )
    if loss.most == loss.week:
        why += f"; the week has {loss.week:,.0f}"
    return Explained(f"{_range((loss.least, loss.most))} node hours{and_more(loss)}", why)


def and_more(loss: Loss) -> str:
    """What follows a loss of which some is not known."""
    return "" if loss.is_whole else " and more"


def _share(walk: Walk, loss: Loss | None) -> Text:
    if loss is None or walk.week is None:
        return "?"
    whole = walk.week.node_hours
    share = joined(f"{loss.least / whole:.1%}", f"{loss.most / whole:.1%}")
    return Explained(share, f"of {whole:,.0f} node hours of {walk.job.nodes} nodes")


def _usd(walk: Walk, loss: Loss | None) -> Text:
    if loss is None:
        return "?"
    if walk.usd_hour is None:
        return Explained("?", "the price of a pool is not known")
    low, high = (number(each * walk.usd_hour, exact=walk.exact) for each in (loss.least, loss.most))
    return Explained(joined(low, high), f"node hours × ${walk.usd_hour:,.4f} a node and hour")


def time(seconds: float) -> str:
    """A time in words, in whole seconds."""
    return str(Duration(math.ceil(seconds)))
