"""Two revisions compared: every change with its consequence, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.extensions.forecast.change import Action, Change, Consequence, Effect, Field, Place
from trainyard.extensions.review.edits.edit import Edit, edits
from trainyard.extensions.review.edits.judge import Judge
from trainyard.extensions.review.edits.revision import Revision
from trainyard.output.body import value_at
from trainyard.output.fields import ABSENT, Pair, Steps, shown
from trainyard.output.hidden import hidden
from trainyard.plan.features import members, members_of_platforms

# What an edit means: asks the judge of its kind, field by field.

PRUNE = "kustomize.toolkit.fluxcd.io/prune"
_FLUX = "kustomize-controller v1.9.5, docs/spec/v1/kustomizations.md"
_KUEUE = "kueue.x-k8s.io/"
_KEPT = Effect(
    Consequence.HARMLESS, f"it stays in the cluster: `{PRUNE}: disabled` keeps Flux from it", _FLUX
)
_NO_MODULE = "Trainyard has no fact on what a change of this kind does"
_NO_FACT = "Trainyard has no fact on what a change of this field does"


@cache
def judges() -> Mapping[str, Judge]:
    """The judge of each kind."""
    return _tables("KINDS")


@cache
def not_known() -> Mapping[str, str]:
    """Kinds that have no judge, each with the reason."""
    return _tables("NOT_KNOWN")


def _tables(name: str) -> dict[str, Any]:
    """The tables of a name of all modules: ours, and those of platforms."""
    folder = Path(__file__).parent / "judges"
    found = members(f"{__package__}.judges", [str(folder)], name)
    found += members_of_platforms("consequences", name)
    return {kind: said for table in found for kind, said in table.items()}


def effects(edit: Edit) -> Iterator[tuple[Effect, tuple[Pair, ...]]]:
    """Each consequence of an edit, with the fields that have it."""
    if edit.action is not Action.CHANGED:
        yield _effect(edit, ()), ()
        return
    by_effect: dict[Effect, list[Pair]] = {}
    for pair in edit.fields:
        by_effect.setdefault(_effect(edit, pair.steps), []).append(pair)
    for effect, pairs in by_effect.items():
        yield effect, tuple(pairs)


def _effect(edit: Edit, steps: Steps) -> Effect:
    kind = edit.thing.kind
    judge = judges().get(kind)
    if edit.action is Action.REMOVED and is_kept(edit):
        return _KEPT
    of_metadata = _of_metadata(steps)
    if of_metadata is not None and of_metadata.consequence is not Consequence.HARMLESS:
        return of_metadata
    found = judge(edit, steps) if judge is not None else None
    if found is not None:
        return found
    if of_metadata is not None:
        return of_metadata
    if judge is None:
        return Effect(Consequence.UNKNOWN, not_known().get(kind, _NO_MODULE))
    return Effect(Consequence.UNKNOWN, _NO_FACT)


def is_kept(edit: Edit) -> bool:
    """Whether Flux leaves an object in the cluster that leaves git."""
    return bool(value_at(edit.old, "metadata", "annotations", PRUNE) == "disabled")


def _of_metadata(steps: Steps) -> Effect | None:
    """Labels and annotations; some are orders to Flux or to Kueue."""
    if len(steps) < 2 or steps[0] != "metadata" or steps[1] not in ("labels", "annotations"):
        return None
    names = [str(step) for step in steps[2:]]
    if any(name.startswith("kustomize.toolkit.fluxcd.io/") for name in names):
        return Effect(Consequence.UNKNOWN, "it decides what Flux does with the object", _FLUX)
    if any(name.startswith(_KUEUE) for name in names):
        return Effect(Consequence.MOVES_JOBS, "Kueue reads it", "Kueue 0.19.2, constants")
    return Effect(Consequence.HARMLESS, "a label or an annotation restarts nothing")


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
