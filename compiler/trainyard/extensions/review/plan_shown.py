"""What a merge does to each cluster, as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.cli.output import as_json
from trainyard.extensions.forecast.costs import Total
from trainyard.extensions.review.consequences import Change, Place
from trainyard.extensions.review.consequences.shown import (
    at,
    counted,
    is_new,
    place_values,
    summary,
    text,
    values,
)
from trainyard.extensions.review.git import Base
from trainyard.extensions.review.report.amounts import Amount, Amounts, lines
from trainyard.extensions.review.report.findings import place
from trainyard.extensions.review.report.markdown import lines as in_markdown
from trainyard.extensions.review.report.merge import of as changes_of
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.render.text import Paint, painter, printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """What the merge does to one cluster. ``findings``: what history says of the edit, which no change repeats."""

    name: str
    changes: Sequence[Change]
    amounts: Amounts
    findings: Sequence[Diagnostic] = ()


def printed(format: str, merges: Sequence[Merge], base: Base, *, color: bool, whole: bool) -> str:
    """All clusters in a format: ``text``, ``markdown`` or ``json``. ``whole``: with all that is harmless, in text."""
    if format == "json":
        return as_json(_values(merges, base))
    if format == "markdown":
        found = [line for merge in merges for line in _markdown(merge, base)]
    else:
        paint = painter(color=color)
        found = [line for merge in merges for line in _text(merge, base, paint, whole=whole)]
    return "".join(f"{line}\n" for line in found)


def _text(merge: Merge, base: Base, paint: Paint, *, whole: bool) -> Iterator[str]:
    if not merge.changes:
        yield f"{merge.name}: no changes against {base}"
        return
    name = paint(merge.name, "bold")
    yield f"{name}: what the merge does, against {base}"
    yield ""
    if is_new(merge.changes) and not whole:
        yield "a new cluster, all of which is added (`--verbose` lists it):"
        for consequence, count in counted(merge.changes).items():
            yield f"  {consequence}: {count}"
        yield ""
    else:
        yield from text(merge.changes, paint, whole=whole)
    for finding in merge.findings:
        yield printable(f"{finding.code}: {finding.message}{at(_line(finding))}")
    if merge.findings:
        yield ""
    yield from lines(merge.amounts)
    yield f"{paint('Plan:', 'bold')} {summary(merge.changes)}"
    yield ""


def _markdown(merge: Merge, base: Base) -> Iterator[str]:
    yield f"# {merge.name}"
    yield ""
    if not merge.changes:
        yield f"No changes against {base}."
        yield ""
        return
    yield f"**Plan: {summary(merge.changes)}**, against {base}."
    yield ""
    found = [f"- {line}" for line in lines(merge.amounts)]
    found += [f"- **{each.code}** {each.message} ({place(each)})" for each in merge.findings]
    if found:
        yield from (*found, "")
    yield from in_markdown(changes_of(merge.changes))


def _values(merges: Sequence[Merge], base: Base) -> dict[str, Any]:
    return {
        "base": {"name": base.name, "commit": base.commit},
        "clusters": [_cluster(merge) for merge in merges],
    }


def _cluster(merge: Merge) -> dict[str, Any]:
    sums = merge.amounts
    return {
        "name": merge.name,
        "new": is_new(merge.changes),
        "counts": {str(each): count for each, count in counted(merge.changes).items()},
        "changes": values(merge.changes),
        "findings": [_finding(each) for each in merge.findings],
        "usdAnHour": {
            "before": _usd(sums.before),
            "after": _usd(sums.after),
            "withoutPrice": list(sums.without_price),
            "staying": list(sums.staying),
        },
        "devices": [_amount("pool", each) for each in sums.devices],
        "quota": [_amount("queue", each) for each in sums.quota],
    }


def _line(found: Diagnostic) -> Place | None:
    if found.span is None:
        return None
    return Place(found.span.file.name, found.span.line, found.span.column)


def _finding(found: Diagnostic) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": str(found.severity),
        "message": found.message,
        "notes": list(found.notes),
        "help": found.help,
        "at": place_values(_line(found)),
    }


def _usd(found: Total | None) -> dict[str, Any] | None:
    if found is None:
        return None
    always, at_most = round(found.always, 4), round(found.at_most, 4)
    return {"always": always, "atMost": at_most, "exact": found.exact}


def _amount(of: str, amount: Amount) -> dict[str, Any]:
    return {of: amount.name, "unit": amount.unit, "before": amount.before, "after": amount.after}
