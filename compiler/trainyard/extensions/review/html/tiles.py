"""What a cluster comes to, in a few numbers: cost, jobs, findings, and what the merge does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.core.costs import Item, beforehand, total
from trainyard.extensions.forecast.sections.cost import usd
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind
from trainyard.extensions.review.consequences.shown import counted, is_new
from trainyard.extensions.review.report.amounts import amounts, cost_change
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.run.subject import Subject


class Tile(NamedTuple):
    """A few words under a title. ``mood``: ``good``, ``bad``, or empty where it is neither."""

    title: str
    words: str
    more: tuple[str, ...] = ()
    mood: str = ""


def tiles(subject: Subject, items: Sequence[Item], forecast: Forecast | None) -> Iterator[Tile]:
    """The tiles, those that a reviewer must act on first."""
    yield _findings(subject)
    yield _merge(subject)
    yield _cost(subject, items)
    if forecast is not None and forecast.verdicts:
        yield _jobs(forecast)


def _findings(subject: Subject) -> Tile:
    counts = Counter(finding.severity for finding in subject.findings)
    if not counts:
        return Tile("Findings", "none", mood="good")
    words = [numbered(counts[each], str(each)) for each in sorted(counts, reverse=True)]
    mood = "bad" if Severity.ERROR in counts else ""
    return Tile("Findings", words[0], tuple(words[1:]), mood)


def _merge(subject: Subject) -> Tile:
    files = len(subject.added) + len(subject.changed) + len(subject.removed)
    if not files:
        return Tile("The merge", "changes nothing", mood="good")
    if not subject.merge:
        return Tile("The merge", f"changes {numbered(files, 'file')}")
    if is_new(subject.merge):
        return Tile("The merge", "adds the cluster", (numbered(files, "file"),))
    words = [
        f"{each}: {numbered(count, 'object')}" for each, count in counted(subject.merge).items()
    ]
    return Tile("The merge", words[0], tuple(words[1:]))


def _cost(subject: Subject, items: Sequence[Item]) -> Tile:
    sums = total(items, subject.spec.region)
    always = f"{usd(sums.always, exact=sums.exact)} an hour always"
    more = [f"{usd(sums.at_most, exact=sums.exact)} an hour at most, while jobs run"]
    bought = beforehand(
        sum(item.bought or 0.0 for item in items), sum(item.lasting or 0.0 for item in items)
    )
    if bought:
        more.insert(0, always)
        always = bought
    if subject.before is not None:
        change = cost_change(amounts(subject.before, subject, new=False))
        more.append(f"by the merge: {change.removeprefix('cost: ')}" if change else "as before")
    lacking = [item.name for item in items if item.usd is None]
    if lacking:
        more.append(f"without {', '.join(lacking)}: no price known")
    return Tile("Cost", always, tuple(more))


_VERDICTS = {
    Kind.NEVER: "never fits",
    Kind.WAITS: "waits for others",
    Kind.ONLY_IF: "fits on a condition",
    Kind.UNKNOWN: "not simulated",
}


def _jobs(forecast: Forecast) -> Tile:
    """How many jobs fit if all are submitted at once, and how many have each other verdict, the worst first."""
    counts = Counter(verdict.kind for verdict in forecast.verdicts)
    jobs = numbered(len(forecast.verdicts), "job")
    others = [f"{word}: {counts[kind]}" for kind, word in _VERDICTS.items() if kind in counts]
    bad = Kind.NEVER in counts or Kind.WAITS in counts
    mood = "bad" if bad else ""
    if not others:
        mood = "good"
    return Tile("Jobs at once", f"{counts[Kind.FITS]} of {jobs} fit", tuple(others), mood)
