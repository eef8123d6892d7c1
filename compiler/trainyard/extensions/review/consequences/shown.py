"""Changes as text for people, and as values for JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.extensions.forecast.change import Action, Change, Consequence, Field, Place
from trainyard.extensions.review.consequences.verdicts import VERDICT
from trainyard.language.diagnostics.render.text import Paint, printable
from trainyard.language.diagnostics.words import numbered
from trainyard.output.beside import beside
from trainyard.output.emit import MANIFEST
from trainyard.output.fields import ABSENT

_LONGEST = 60  # characters of a value in text
_FIELDS = 6  # fields of a change in text, unless all are asked for
_STYLES = {
    Consequence.ENDS_JOBS: "error",
    Consequence.DESTROYS_DATA: "error",
    Consequence.REPLACES_NODES: "warning",
    Consequence.HARMLESS: "help",
}
_VERBS = {
    Action.ADDED: "to add",
    Action.CHANGED: "to change",
    Action.REPLACED: "to replace",
    Action.REMOVED: "to remove",
}


def is_shown(change: Change) -> bool:
    """Whether a change is shown one by one; harmless ones are counted."""
    return change.consequence is not Consequence.HARMLESS


def is_new(changes: Sequence[Change]) -> bool:
    """Whether nothing of the cluster was there before."""
    return any(change.file == MANIFEST and change.action is Action.ADDED for change in changes)


def counted(changes: Sequence[Change]) -> dict[Consequence, int]:
    """The number of objects of each consequence, the worst first."""
    found: dict[Consequence, set[tuple[str, str]]] = {}
    for change in changes:
        found.setdefault(change.consequence, set()).add((change.file, change.object))
    return {each: len(found[each]) for each in Consequence if each in found}


def summary(changes: Sequence[Change]) -> str:
    """How many objects are added, changed, replaced and removed; jobs of the simulation are none."""
    by_object: dict[tuple[str, str], set[Action]] = {}
    for change in changes:
        if change.file:
            by_object.setdefault((change.file, change.object), set()).add(change.action)
    counts = dict.fromkeys(_VERBS, 0)
    for actions in by_object.values():
        action = Action.REPLACED if Action.REPLACED in actions else next(iter(actions))
        counts[action] += 1
    return ", ".join(f"{counts[action]} {verb}" for action, verb in _VERBS.items())


def text(changes: Sequence[Change], paint: Paint, *, whole: bool) -> Iterator[str]:
    """The changes below their consequences; ``whole``: harmless ones and all fields too."""
    for consequence in Consequence:
        of_this = [change for change in changes if change.consequence is consequence]
        if not of_this:
            continue
        title = paint(str(consequence), _STYLES.get(consequence, "bold"))
        if consequence is Consequence.HARMLESS and not whole:
            yield f"{title}: {numbered(len(of_this), 'change')} (`--verbose` lists them)"
            yield ""
            continue
        yield title
        for change in of_this:
            yield from _lines(change, paint, whole=whole)
        yield ""


def _lines(change: Change, paint: Paint, *, whole: bool) -> Iterator[str]:
    file = f"  {change.file}" if change.file and change.file != change.object else ""
    place = "" if change.fields else at(change.at)
    name = paint(printable(change.object), "bold")
    yield f"  {change.action} {name}{printable(f'{file}{place}')}"
    yield f"      {printable(reason(change))}"
    shown = change.fields if whole else change.fields[:_FIELDS]
    for each in shown:
        yield f"      {printable(f'{field(each)}{at(each.at)}')}"
    more = len(change.fields) - len(shown)
    if more:
        yield f"      and {numbered(more, 'more field')}"


def reason(change: Change) -> str:
    """Why a change has its consequence, and where that is documented."""
    if not change.effect.source:
        return change.effect.why
    return f"{change.effect.why} ({change.effect.source})"


def field(each: Field) -> str:
    """A field with both values."""
    mark = "  # forces replacement" if each.replaces else ""
    if each.before is ABSENT and each.after is ABSENT:
        return f"{each.path} differs{mark}"
    before, after = _value(each.before), _value(each.after)
    if each.path != VERDICT:
        before, after = beside(before, after, _LONGEST)
    return f"{each.path}: {before} → {after}{mark}"


def _value(value: Any) -> str:
    return "none" if value is ABSENT else json.dumps(value, ensure_ascii=False)


def at(place: Place | None) -> str:
    """A place after what it is of: ``  specs/lab.yaml:12``."""
    if place is None:
        return ""
    of_base = " of the base" if place.base else ""
    return f"  [{place.file}:{place.line}{of_base}]"


def values(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """What ``--format json`` prints of each change. A side that a field does not have has no such key."""
    return [_values(change) for change in changes]


def _values(change: Change) -> dict[str, Any]:
    return {
        "consequence": str(change.consequence),
        "action": change.action.word,
        "object": change.object,
        "kind": change.kind,
        "file": change.file or None,
        "at": place_values(change.at),
        "why": change.effect.why,
        "source": change.effect.source or None,
        "fields": [_field(each) for each in change.fields],
    }


def _field(each: Field) -> dict[str, Any]:
    both = {"before": each.before, "after": each.after}
    known = {key: value for key, value in both.items() if value is not ABSENT}
    return {
        "path": each.path,
        **known,
        "forcesReplacement": each.replaces,
        "at": place_values(each.at),
    }


def place_values(place: Place | None) -> dict[str, Any] | None:
    """A place as JSON has it."""
    if place is None:
        return None
    revision = "base" if place.base else "working tree"
    return {"file": place.file, "line": place.line, "column": place.column, "revision": revision}
