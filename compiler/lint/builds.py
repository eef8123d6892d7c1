"""Objects as kustomizations apply them, with the patches and keys that overlays give to their bases.

The base of an overlay is not applied by itself, so what its overlays add is not missing. Each
kustomization that no other builds on is a build. All objects are judged together as the largest build makes them; where
another makes something else of one, that build is judged by itself, and what is found has to be found in some build.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from compiler.dataclass import dataclass
from compiler.inputs import real_path
from compiler.lint.changes import Patch
from compiler.lint.flux import Paths
from compiler.lint.inputs import LintObject, Place, Text
from compiler.lint.kustomize import Chain, Kustomizations
from compiler.lint.namespaces import Namespaces
from compiler.manifest import ObjectRef
from compiler.patching.place import Draft
from compiler.places import Key, Route

_MOST, _TIMES = 10_000, 30
"""Files of all builds together, at least, and for each object; of a base with more overlays the rest is left out."""


@dataclass(slots=True)
class Build:
    """What one kustomization applies. ``other``: the files of which it makes something else than the first that applies
    them; ``files``: all, by the name under which they were read."""

    objects: list[LintObject] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    other: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Builds:
    """All objects, each as the largest kustomization makes it that applies it; and every build. ``renamed``: objects by
    the names that kustomizations give them, which patches use."""

    objects: list[LintObject]
    all: list[Build]
    renamed: frozenset[ObjectRef]

    def others(self) -> list[Build]:
        """The builds that differ from what is judged together."""
        return [build for build in self.all if build.other]

    def alike(self, file: str) -> bool:
        """Whether a file is judged as it is applied: by some build that differs in nothing, or by none at all."""
        applied = [build for build in self.all if file in build.files]
        return not applied or any(not build.other for build in applied)


def builds(objects: Iterable[LintObject], kustomizations: Kustomizations) -> Builds:
    """What kustomizations make of objects; without any, the objects as they are."""
    objects = list(objects)
    by_file: dict[str, list[LintObject]] = {}
    if kustomizations.changes:
        for item in objects:
            real = real_path(item.path)
            by_file.setdefault(real, []).append(item)
    paths = Paths(objects)
    first: dict[str, LintObject | None] = {}
    where: dict[str, LintObject] = {}
    made: list[Build] = []
    renamed: set[ObjectRef] = set()
    most = max(_MOST, _TIMES * len(objects))
    known = _bounded(kustomizations.applied(), most)
    # The largest comes first, so that most objects are judged with those that are applied with them.
    for files in sorted(known, key=len, reverse=True):
        build = Build()
        applied = [
            (item, chain, paths.namespace(item.path) or kustomizations.namespace(chain))
            for file, chain in files.items()
            for item in by_file.get(file, ())
        ]
        namespaces = Namespaces((item, namespace) for item, _, namespace in applied)
        for item, chain, namespace in applied:
            ref = item.manifest.ref
            for name in _names(ref.name, chain, kustomizations)[1:]:
                renamed.add(replace(ref, name=name))
                renamed.add(replace(ref, name=name, namespace=namespace or ref.namespace))
            changed = _changed(item, chain, kustomizations)
            _note(build, item, changed, first)
            if changed is not None:
                placed = namespaces.inside(changed, namespace)
                build.objects.append(placed)
                where.setdefault(item.manifest.id, placed)
        made.append(build)
    alone = [
        (item, paths.namespace(item.path)) for item in objects if item.manifest.id not in first
    ]
    namespaces = Namespaces(alone)
    for item, namespace in alone:
        where[item.manifest.id] = namespaces.inside(item, namespace)
    together = [
        where.get(item.manifest.id, item)
        for item in objects
        if first.get(item.manifest.id, item) is not None
    ]
    return Builds(together, made, frozenset(renamed))


def _bounded(applied: Iterable[dict[str, Chain]], most: int) -> Iterator[dict[str, Chain]]:
    """The files of builds, as long as there are no more of them."""
    for files in applied:
        most -= len(files)
        if most < 0:
            return
        yield files


def _note(
    build: Build, item: LintObject, changed: LintObject | None, first: dict[str, LintObject | None]
) -> None:
    """Note that a build applies an object, and whether it makes of it what the first one does; ``changed`` is ``None``
    for one that the build takes away. Where it is does not count: overlays of one base differ in it."""
    earlier = first.setdefault(item.manifest.id, changed)
    build.files.add(item.path)
    if _body(earlier) != _body(changed):
        build.other.add(item.path)


def _names(name: str, chain: Chain, kustomizations: Kustomizations) -> list[str]:
    """The name of an object, and each that the kustomizations of a chain give it."""
    names = [name]
    for path in chain:
        name = kustomizations.changes[path].renamed(name)
        if name != names[-1]:
            names.append(name)
    return names


def _body(item: LintObject | None) -> object:
    return item.manifest.body if item is not None else None


def _changed(item: LintObject, chain: Chain, kustomizations: Kustomizations) -> LintObject | None:
    """An object with the changes of kustomizations, in this order; ``None`` where one takes it away."""
    name = item.manifest.ref.name
    names = {name}
    draft: Draft | None = None
    places: list[tuple[Text | None, Route]] = [(None, item.where)]
    for path in chain:
        changes = kustomizations.changes[path]
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
    changed: dict[tuple[Key, ...], Place] = {}
    for field_path, route in draft.origins.items():
        number, *below = route
        text, where = places[int(number)]
        changed[field_path] = (text or item.text, where, Route(below))
    return replace(item, manifest=manifest, changed=changed)


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
