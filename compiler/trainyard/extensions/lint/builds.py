"""Objects as kustomizations apply them, with the patches and keys that overlays give to their bases.

The base of an overlay is not applied by itself, so what its overlays add is not missing. Each
kustomization that no other builds on is a build. All objects are judged together as the largest build makes them; where
another makes something else of one, that build is judged by itself, and what is found has to be found in some build.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from trainyard.disk.inputs import real_path
from trainyard.extensions.lint.changes import Change, Patch, Target, patches_in
from trainyard.extensions.lint.changing import Chain, Changing, changed, names_of
from trainyard.extensions.lint.flux import STAGE, Folders, Paths, normalized
from trainyard.extensions.lint.inputs import LintObject, Text
from trainyard.extensions.lint.kustomize import Kustomizations
from trainyard.extensions.lint.namespaces import Namespaces
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.body import indexed, value_at
from trainyard.output.manifest import ObjectRef
from trainyard.verify.objects import identity_of

# What the Kustomizations of Flux patch: the objects that they apply, and so other Kustomizations.
#
# Source: kustomize.toolkit.fluxcd.io/v1 Kustomization, `spec.patches`. One Kustomization for all of a cluster often
# gives the others their fields, and patches for what these apply: without them fields would seem to be missing.

_DEEPEST = 20
"""Kustomizations that apply each other; what is deeper is left out."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The patches of one Kustomization of Flux."""

    patches: Sequence[Patch]
    text: Text

    def all(self) -> Sequence[Change]:
        return self.patches

    def renamed(self, name: str) -> str:
        return name


class Stages:
    """Every Kustomization of Flux that has patches, or gets them. ``ways``: by file, the kustomizations that change
    what is in it."""

    def __init__(
        self,
        objects: Iterable[LintObject],
        ways: Mapping[str, Chain],
        changing: Mapping[str, Changing],
    ) -> None:
        self._ways = ways
        self._changing = changing
        self._by_path: dict[str, list[LintObject]] = {}
        for item in objects:
            if item.manifest.once(identity_of)[:2] == STAGE:
                path = normalized(value_at(item.manifest.body, "spec", "path"))
                if path:
                    self._by_path.setdefault(path, []).append(item)
        self._known: dict[str, Stage | None] = {}
        self._depth = 0
        self._folders = Folders(self._by_path)

    @cached_property
    def changing(self) -> dict[str, Changing]:
        """What changes objects, by name: kustomizations, and all of these."""
        stages = {
            item.manifest.id: stage
            for of_path in self._by_path.values()
            for item in of_path
            if (stage := self._stage(item)) is not None
        }
        return {**self._changing, **stages}

    def of(self, file: str) -> Chain:
        """The Kustomization whose patches what is in a file gets; of what a kustomization applies, that is its file."""
        stage = self._applying(file)
        return () if stage is None else (stage.manifest.id,)

    def _applying(self, file: str) -> LintObject | None:
        """The Kustomization with patches that applies a file: the first of those of the innermost folder."""
        applying = (item for path in self._folders.innermost(file) for item in self._by_path[path])
        return next((item for item in applying if self._stage(item) is not None), None)

    def _stage(self, item: LintObject) -> Stage | None:
        """The patches of a Kustomization as it is applied, so with those that another gives it; nothing without any."""
        key = item.manifest.id
        if key not in self._known:
            self._known[key] = None  # of one that applies itself
            self._depth += 1
            if self._depth <= _DEEPEST:
                self._known[key] = _with_patches(self._patched(item))
            self._depth -= 1
        return self._known[key]

    def _patched(self, item: LintObject) -> LintObject:
        chain = self._ways.get(real_path(item.path), ())
        applying = self._applying(chain[-1] if chain else item.path)
        if applying is None or applying is item:
            return item
        stage = self._stage(applying)
        if stage is None:
            return item
        key = applying.manifest.id
        return changed(item, (*chain, key), {**self._changing, key: stage}) or item


def _with_patches(item: LintObject) -> Stage | None:
    found: list[Patch] = []
    for index, entry in indexed(item.manifest.body, "spec", "patches"):
        text, target = entry.get("patch"), entry.get("target")
        if isinstance(text, str):
            for_what = Target(target) if isinstance(target, dict) else None
            where = Route((*item.where, "spec", "patches", index, "patch"))
            found += patches_in(text, for_what, item.path, _written(item, where))
    return Stage(found, item.text) if found else None


def _written(item: LintObject, where: Route) -> Route:
    """The place of a patch; that of the whole object where another Kustomization gives it the patch."""
    return item.where if item.changed else where


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
    # The largest comes first, so that most objects are judged with those that are applied with them.
    known = sorted(_bounded(kustomizations.applied(), most), key=len, reverse=True)
    stages = Stages(objects, _ways(known), kustomizations.changes)
    for files in known:
        build = Build()
        applied = [
            (item, chain, _namespace(item, chain, paths, kustomizations))
            for file, chain in files.items()
            for item in by_file.get(file, ())
        ]
        namespaces = Namespaces((item, namespace) for item, _, namespace in applied)
        for item, chain, namespace in applied:
            ref = item.manifest.ref
            for name in names_of(ref.name, chain, kustomizations.changes)[1:]:
                renamed.add(replace(ref, name=name))
                renamed.add(replace(ref, name=name, namespace=namespace or ref.namespace))
            way = (*chain, *stages.of(chain[-1]))
            applied_as = changed(item, way, stages.changing)
            _note(build, item, applied_as, first)
            if applied_as is not None:
                placed = namespaces.inside(applied_as, namespace)
                build.objects.append(placed)
                where.setdefault(item.manifest.id, placed)
        made.append(build)
    alone = [
        (item, paths.namespace(item.path)) for item in objects if item.manifest.id not in first
    ]
    namespaces = Namespaces(alone)
    for item, namespace in alone:
        applied_as = changed(item, stages.of(item.path), stages.changing)
        if applied_as is None:
            first[item.manifest.id] = None
        else:
            where[item.manifest.id] = namespaces.inside(applied_as, namespace)
    together = [
        where.get(item.manifest.id, item)
        for item in objects
        if first.get(item.manifest.id, item) is not None
    ]
    return Builds(together, made, frozenset(renamed))


def _ways(known: Iterable[dict[str, Chain]]) -> dict[str, Chain]:
    """By file, what changes its objects in the first build that applies it."""
    ways: dict[str, Chain] = {}
    for files in known:
        for file, chain in files.items():
            ways.setdefault(file, chain)
    return ways


def _namespace(item: LintObject, chain: Chain, paths: Paths, kustomizations: Kustomizations) -> str:
    """The namespace that an object gets: of the Kustomization of Flux that applies the last kustomization, or the
    object's own file, or of the kustomizations."""
    given = paths.namespace(chain[-1]) or paths.namespace(item.path)
    return given or kustomizations.namespace(chain)


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


def _body(item: LintObject | None) -> object:
    return item.manifest.body if item is not None else None
