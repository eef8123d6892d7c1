"""The first thing that a reviewer of several clusters reads: which of them change, what is dangerous, what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trainyard.extensions.forecast.blocks import Block, Strong, Text, paragraph, table
from trainyard.extensions.forecast.costs import Total, beforehand, total_costs
from trainyard.extensions.forecast.sections.bill import bill
from trainyard.extensions.forecast.sections.cost import an_hour
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.consequences.shown import counted, is_new, is_shown, summary
from trainyard.extensions.review.report.amounts import accelerators, amounts, cost_change
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.words import numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A cluster in a line: what the merge does to it and what of that is dangerous, its findings, its accelerators, its
    cost with the change of it. ``changed``: there is something to look at."""

    name: str
    changed: bool
    merge: str
    dangers: str = ""
    findings: str = ""
    devices: str = ""
    cost: Total | None = None
    bought: float = 0.0
    lasting: float = 0.0
    change: str = ""


def of(subject: Subject) -> Row:
    """The line of a cluster."""
    merge, change = "unchanged", ""
    if subject.edited:
        merge = summary(subject.merge) if subject.merge else "changed"
        if subject.before is not None:
            found = amounts(subject.before, subject, new=is_new(subject.merge))
            change = cost_change(found).removeprefix("cost: ")
    new = is_new(subject.merge)
    shown = [] if new else [each for each in subject.merge if is_shown(each)]
    items = bill(subject)
    return Row(
        name=subject.name,
        changed=subject.edited or bool(subject.findings),
        merge=merge,
        dangers=", ".join(f"{each}: {count}" for each, count in counted(shown).items()),
        findings=_findings(subject.findings),
        devices=", ".join(f"{count} {kind}" for kind, count in accelerators(subject).items()),
        cost=total_costs(items, subject.spec.region),
        bought=sum(item.bought or 0.0 for item in items),
        lasting=sum(item.lasting or 0.0 for item in items),
        change=change,
    )


def unfinished(name: str, diagnostics: Sequence[Diagnostic]) -> Row:
    """The line of a spec that has no plan."""
    return Row(name=name, changed=True, merge="in error", findings=_findings(diagnostics))


def _findings(found: Sequence[Diagnostic]) -> str:
    counts = Counter(each.severity for each in found)
    worst_first = sorted(counts, reverse=True)
    return ", ".join(numbered(counts[severity], str(severity)) for severity in worst_first)


def blocks(rows: Sequence[Row], listed: Sequence[Row] | None = None) -> Iterator[Block]:
    """The sums of all, and a table with a row for each cluster that is ``listed``, those to look at first."""
    yield paragraph((Strong(_sums(rows)), "."))
    shown = sorted(rows if listed is None else listed, key=lambda row: not row.changed)
    if shown:
        yield table(_COLUMNS, map(_cells, shown))


_COLUMNS = ("cluster", "the merge", "danger", "findings", "accelerators", "cost", "by the merge")


def _cells(row: Row) -> tuple[Text, ...]:
    return (
        row.name,
        row.merge,
        row.dangers,
        row.findings,
        row.devices,
        _cost(row.cost, [row]) if row.cost is not None else "",
        row.change,
    )


def _sums(rows: Sequence[Row]) -> str:
    changed = sum(row.changed for row in rows)
    text = f"{numbered(len(rows), 'cluster')}, {changed} to look at"
    known = [row.cost for row in rows if row.cost is not None]
    if not known:
        return text
    sums = Total(
        sum(each.always for each in known),
        sum(each.at_most for each in known),
        all(each.exact for each in known),
    )
    return f"{text}; together {_cost(sums, rows)}"


def _cost(sums: Total, rows: Sequence[Row]) -> str:
    bought = beforehand(sum(row.bought for row in rows), sum(row.lasting for row in rows))
    return f"{bought}, {an_hour(sums)}" if bought else an_hour(sums)
