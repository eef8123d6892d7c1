"""What the Kustomizations of Flux patch: the objects that they apply, and so other Kustomizations.

Source: kustomize.toolkit.fluxcd.io/v1 Kustomization, ``spec.patches``. One Kustomization for all of a cluster often
gives the others their fields, and patches for what these apply: without them fields would seem to be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from trainyard.disk.inputs import real_path
from trainyard.extensions.lint.changes import Change, Patch, Target, patches_in
from trainyard.extensions.lint.changing import Chain, Changing, changed
from trainyard.extensions.lint.flux import STAGE, Folders, normalized
from trainyard.extensions.lint.inputs import LintObject, Text
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.body import at, indexed
from trainyard.verify.objects import identity_of

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
                path = normalized(at(item.manifest.body, "spec", "path"))
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
