"""What the merge does: every change that is not harmless, by its consequence, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.consequences import Change, Consequence
from compiler.consequences.shown import at, counted, field, is_shown, reason
from compiler.report.markdown import code, folded, table
from compiler.report.subject import Subject

_MOST = 10  # changes that stand open; the others are folded away
_FIELDS = 3  # fields of a change


def section(subject: Subject) -> Iterator[str]:
    """How many objects have each consequence, then the changes, each with the line that causes it."""
    yield from lines(subject.merge)


def lines(changes: Sequence[Change]) -> Iterator[str]:
    """The same of any changes; nothing where there are none."""
    if not changes:
        return
    yield from ("## What the merge does", "")
    rows = ((str(consequence), str(count)) for consequence, count in counted(changes).items())
    yield from table(("consequence", "objects:"), rows)
    shown = [change for change in changes if is_shown(change)]
    for change in shown[:_MOST]:
        yield from _change(change)
    yield ""
    more = [line for change in shown[_MOST:] for line in _change(change)]
    if more:
        yield from folded(f"{len(shown) - _MOST} more changes", [*more, ""])
    harmless = [change for change in changes if change.consequence is Consequence.HARMLESS]
    if harmless:
        yield from folded(f"{len(harmless)} harmless", [*map(_line, harmless), ""])


def _change(change: Change) -> Iterator[str]:
    object = _line(change).removeprefix("- ")
    yield f"- **{change.consequence}**: {object}: {reason(change)}"
    for each in change.fields[:_FIELDS]:
        yield f"  - {code(field(each))}{at(each.at)}"
    more = len(change.fields) - _FIELDS
    if more > 0:
        yield f"  - and {more} more fields"


def _line(change: Change) -> str:
    place = "" if change.fields else at(change.at)
    file = f" of {code(change.file)}" if change.is_part else ""
    return f"- {code(change.action)} {code(change.object)}{file}{place}"
