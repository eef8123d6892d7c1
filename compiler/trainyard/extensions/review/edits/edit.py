"""What differs between two revisions: things that are added or removed, and the fields of those that change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.extensions.forecast.change import Action
from trainyard.extensions.review.edits.revision import Revision
from trainyard.extensions.review.edits.thing import Thing, things
from trainyard.language.dataclass import dataclass
from trainyard.output.artifact import Artifact
from trainyard.output.fields import Pair, differing


@dataclass(frozen=True, slots=True)
class Edit:
    """A thing before and after, and its fields that differ; no fields where one of the two is missing. ``beside``: all
    that is written with it afterwards."""

    action: Action
    before: Thing | None
    after: Thing | None
    fields: tuple[Pair, ...] = ()
    beside: Sequence[Artifact] = ()

    def objects(self, kind: str) -> list[dict[str, Any]]:
        """The objects of a kind that are written with it."""
        return [artifact.body for artifact in self.beside if artifact.ref.kind == kind]

    @property
    def thing(self) -> Thing:
        """What it is about: as it will be, or as it was."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def old(self) -> dict[str, Any]:
        """The body before; empty where it was not there."""
        return self.before.body if self.before is not None else {}

    @property
    def new(self) -> dict[str, Any]:
        """The body after; empty where it goes."""
        return self.after.body if self.after is not None else {}


def edits(before: Revision, after: Revision) -> Iterator[Edit]:
    """Each thing that differs, in the order of the paths of both sides. A file that only moves is no edit."""
    paths = {path for path in {*before.files, *after.files} if _differs(path, before, after)}
    old = _things(before, after, paths)
    new = _things(after, before, paths)
    beside = tuple(after.artifacts.values())
    for identity in dict.fromkeys((*new, *old)):
        edit = edit_of(old.get(identity), new.get(identity), beside)
        if edit is not None:
            yield edit


def _differs(path: str, before: Revision, after: Revision) -> bool:
    return before.files.get(path) != after.files.get(path)


def _things(side: Revision, other: Revision, paths: set[str]) -> dict[tuple[str, ...], Thing]:
    found = {}
    for path in sorted(paths & side.files.keys()):
        artifact = side.artifacts.get(path) or other.artifacts.get(path)
        for thing in things(path, side.files[path], artifact):
            found[thing.identity] = thing
    return found


def edit_of(
    before: Thing | None, after: Thing | None, beside: Sequence[Artifact] = ()
) -> Edit | None:
    """What makes one thing of another; ``None`` where they are the same."""
    if before is None:
        return Edit(Action.ADDED, before, after, beside=beside)
    if after is None:
        return Edit(Action.REMOVED, before, after, beside=beside)
    fields = tuple(differing(_whole(after.body), _whole(before.body)))
    if not fields and after.text != before.text:
        fields = (Pair((), after.text, before.text),)
    if not fields:
        return None
    return Edit(Action.CHANGED, before, after, fields, beside)


def _whole(body: dict[str, Any]) -> dict[str, Any]:
    """A body with labels and annotations, so that each of them is compared by itself."""
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return body
    both = {key: metadata.get(key) or {} for key in ("labels", "annotations")}
    return {**body, "metadata": {**metadata, **both}}
