"""One object with the changes of what applies it: of kustomizations, and of the Kustomizations of Flux."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from trainyard.extensions.lint.changes import Change, Patch
from trainyard.extensions.lint.inputs import LintObject, Place, Text
from trainyard.language.places import Key, Route
from trainyard.run.patching.place import Draft

Chain = tuple[str, ...]
"""What changes an object, by the names of its changes, the innermost first."""


class Changing(Protocol):
    """What one kustomization or one Kustomization of Flux changes."""

    @property
    def text(self) -> Text:
        """Where it is written."""

    def all(self) -> Sequence[Change]:
        """The changes, in their order."""

    def renamed(self, name: str) -> str:
        """The name that it gives to an object."""


def names_of(name: str, chain: Chain, changing: Mapping[str, Changing]) -> list[str]:
    """The name of an object, and each that it gets on its way."""
    names = [name]
    for key in chain:
        name = changing[key].renamed(name)
        if name != names[-1]:
            names.append(name)
    return names


def changed(item: LintObject, chain: Chain, changing: Mapping[str, Changing]) -> LintObject | None:
    """An object with the changes of its way, in this order; ``None`` where one takes it away."""
    name = item.manifest.ref.name
    names = {name}
    draft: Draft | None = None
    places: list[tuple[Text | None, Route]] = [(None, item.where)]
    for key in chain:
        changes = changing[key]
        for change in changes.all():
            body = draft.body if draft else item.manifest.body
            if not change.fits(body, names):
                continue
            if isinstance(change, Patch) and change.deletes:
                return None
            if draft is None:
                items = _list_items(item.manifest.body, ())
                draft = Draft(item.manifest.body, {path: Route((0, *path)) for path in items})
            place = Route((len(places),))
            places.append((change.text or changes.text, change.where))
            change.apply(draft, place)
        name = changes.renamed(name)
        names.add(name)
    if draft is None:
        return item
    manifest = replace(item.manifest, body=draft.body)
    origins: dict[tuple[Key, ...], Place] = {}
    for field_path, route in draft.origins.items():
        number, *below = route
        text, where = places[int(number)]
        origins[field_path] = (text or item.text, where, Route(below))
    return replace(item, manifest=manifest, changed=origins)


def _list_items(value: object, path: tuple[Key, ...]) -> Iterator[tuple[Key, ...]]:
    """The path of every item of a list: a patch that adds one moves the others."""
    if isinstance(value, dict):
        for key, inside in value.items():
            if isinstance(inside, (dict, list)):
                yield from _list_items(inside, (*path, key))
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            yield (*path, index)
            yield from _list_items(inside, (*path, index))
