"""What the merge does: every change that is not harmless, by its consequence, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.extensions.forecast.blocks import (
    Block,
    Entry,
    Heading,
    Strong,
    Text,
    code_text,
    folded,
    listing,
    paragraph,
    table,
)
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.consequences import Change
from trainyard.extensions.review.consequences.shown import (
    at,
    counted,
    field,
    is_new,
    is_shown,
    reason,
)
from trainyard.language.diagnostics.words import numbered

_OPEN = 8  # changes that stand open
_FOLDED = 40  # changes that are folded away; `trainyard plan` lists all
_FIELDS = 3  # fields of a change


def section(subject: Subject) -> Iterator[Block]:
    """How many objects have each consequence, then the changes, each with the line that causes it."""
    yield from of(subject.merge)


def of(changes: Sequence[Change]) -> Iterator[Block]:
    """The same of any changes; nothing where there are none."""
    if not changes:
        return
    yield Heading("What the merge does")
    if is_new(changes):
        yield paragraph("The cluster is new: all of it is added.")
    rows = ((str(consequence), str(count)) for consequence, count in counted(changes).items())
    yield table(("consequence", "objects:"), rows)
    if is_new(changes):
        return
    shown = [change for change in changes if is_shown(change)]
    if shown:
        yield listing(map(_change, shown[:_OPEN]))
    more = shown[_OPEN:]
    if more:
        yield folded(numbered(len(more), "more change"), [listing(_folded(more))])


def _folded(changes: Sequence[Change]) -> Iterator[Text | Entry]:
    for change in changes[:_FOLDED]:
        yield _change(change)
    left = len(changes) - _FOLDED
    if left > 0:
        yield f"and {left} more: `trainyard plan` lists them"


def _change(change: Change) -> Entry:
    place = "" if change.fields else at(change.at)
    file = f" of {code_text(change.file)}" if change.is_part else ""
    object = f"{code_text(change.action)} {code_text(change.object)}{file}{place}"
    text = (Strong(str(change.consequence)), f": {object}: {reason(change)}")
    below = [f"{code_text(field(each))}{at(each.at)}" for each in change.fields[:_FIELDS]]
    more = len(change.fields) - _FIELDS
    if more > 0:
        below.append(f"and {numbered(more, 'more field')}")
    return Entry(text, tuple(below))
