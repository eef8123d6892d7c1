"""What the merge does: every change that is not harmless, by its consequence, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.consequences import Change
from compiler.consequences.shown import at, counted, field, is_new, is_shown, reason
from compiler.report.markdown import code, folded, table
from compiler.report.subject import Subject

_OPEN = 8  # changes that stand open
_FOLDED = 40  # changes that are folded away; `trainyard plan` lists all
_FIELDS = 3  # fields of a change


def section(subject: Subject) -> Iterator[str]:
    """How many objects have each consequence, then the changes, each with the line that causes it."""
    yield from lines(subject.merge)


def lines(changes: Sequence[Change]) -> Iterator[str]:
    """The same of any changes; nothing where there are none."""
    if not changes:
        return
    yield from ("## What the merge does", "")
    if is_new(changes):
        yield from ("The cluster is new: all of it is added.", "")
    rows = ((str(consequence), str(count)) for consequence, count in counted(changes).items())
    yield from table(("consequence", "objects:"), rows)
    if is_new(changes):
        return
    shown = [change for change in changes if is_shown(change)]
    for change in shown[:_OPEN]:
        yield from _change(change)
    if shown:
        yield ""
    more = shown[_OPEN:]
    if more:
        yield from folded(f"{len(more)} more changes", _folded(more))


def _folded(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes[:_FOLDED]:
        yield from _change(change)
    left = len(changes) - _FOLDED
    if left > 0:
        yield f"- and {left} more: `trainyard plan` lists them"
    yield ""


def _change(change: Change) -> Iterator[str]:
    place = "" if change.fields else at(change.at)
    file = f" of {code(change.file)}" if change.is_part else ""
    object = f"{code(change.action)} {code(change.object)}{file}{place}"
    yield f"- **{change.consequence}**: {object}: {reason(change)}"
    for each in change.fields[:_FIELDS]:
        yield f"  - {code(field(each))}{at(each.at)}"
    more = len(change.fields) - _FIELDS
    if more > 0:
        yield f"  - and {more} more fields"
