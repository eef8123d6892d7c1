"""Two revisions compared: every change with its consequence, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.extensions.review.consequences.judging import effects
from trainyard.output.fields import ABSENT, Pair, shown
from trainyard.output.hidden import hidden
from trainyard.run.edits.change import Action, Change, Effect, Field, Place
from trainyard.run.edits.edit import Edit, edits
from trainyard.run.edits.revision import Revision


def compared(before: Revision, after: Revision) -> list[Change]:
    """What a merge of ``after`` does to what ``before`` made."""
    found = [change for edit in edits(before, after) for change in _changes(edit, before, after)]
    return in_order(found)


def in_order(changes: Iterable[Change]) -> list[Change]:
    """The worst first; of one consequence, by file and object."""
    return sorted(changes, key=lambda each: (each.consequence.rank, each.file, each.object))


def _changes(edit: Edit, before: Revision, after: Revision) -> Iterator[Change]:
    thing = edit.thing
    for effect, pairs in effects(edit):
        fields = tuple(_field(pair, edit, effect, before, after) for pair in pairs)
        at = fields[0].at if fields else _whole(edit, before, after)
        yield Change(
            action=Action.REPLACED if effect.replaces else edit.action,
            effect=effect,
            object=thing.title,
            kind=thing.kind,
            file=thing.path,
            at=at,
            fields=fields,
        )


def _whole(edit: Edit, before: Revision, after: Revision) -> Place:
    """The line behind something that is added or removed."""
    thing = edit.thing
    side = before if edit.after is None else after
    return side.place(thing.path, thing.body, thing.start)


def _field(pair: Pair, edit: Edit, effect: Effect, before: Revision, after: Revision) -> Field:
    has_text = not pair.steps
    return Field(
        path="content" if has_text else shown(pair.steps),
        before=ABSENT if has_text else hidden(pair.found, pair.steps),
        after=ABSENT if has_text else hidden(pair.wanted, pair.steps),
        at=_cause(pair, edit, before, after),
        replaces=effect.replaces,
    )


def _cause(pair: Pair, edit: Edit, before: Revision, after: Revision) -> Place:
    """The line behind a field: of the new spec, or of the earlier one for what is taken away."""
    assert edit.before is not None
    assert edit.after is not None
    if pair.wanted is ABSENT and before.document is not None:
        return before.place(edit.before.path, edit.before.body, edit.before.start, pair.steps)
    return after.place(edit.after.path, edit.after.body, edit.after.start, pair.steps)
