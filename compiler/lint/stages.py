"""What the Kustomizations of Flux patch: the objects that they apply, and so other Kustomizations.

Source: kustomize.toolkit.fluxcd.io/v1 Kustomization, ``spec.patches``. One Kustomization for all of a cluster often
gives the others their fields, and patches for what these apply: without them fields would seem to be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from os.path import dirname

from compiler.dataclass import dataclass
from compiler.inputs import real_path
from compiler.lint.changes import Change, Patch, Target, patches_in
from compiler.lint.changing import Chain, Changing, changed
from compiler.lint.flux import STAGE, folder_of, normalized
from compiler.lint.inputs import LintObject, Text
from compiler.output.body import at, items
from compiler.places import Route
from compiler.verify.objects import identity_of


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
    """Every Kustomization of Flux that has patches, or gets them. ``way``: by file, the folder of the kustomization
    that applies it, and what that and its bases change."""

    def __init__(
        self,
        objects: Iterable[LintObject],
        way: Mapping[str, tuple[str, Chain]],
        changing: Mapping[str, Changing],
    ) -> None:
        self._way = way
        self._changing = changing
        self._by_path: dict[str, list[LintObject]] = {}
        for item in objects:
            if item.manifest.once(identity_of)[:2] == STAGE:
                path = normalized(at(item.manifest.body, "spec", "path"))
                if path:
                    self._by_path.setdefault(path, []).append(item)
        self._known: dict[str, Stage | None] = {}
        self._innermost: dict[str, list[LintObject]] = {}

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

    def of(self, file: str, folder: str = "") -> Chain:
        """The Kustomization whose patches what is in a file gets, if it is one; ``folder``: of the kustomization that
        applies the file."""
        if not self._by_path:
            return ()
        stage = self._applying(f"{folder}/kustomization.yaml" if folder else file)
        return () if stage is None else (stage.manifest.id,)

    def _applying(self, file: str) -> LintObject | None:
        """The Kustomization with patches that applies a file: the first of those of the innermost folder."""
        folder = dirname(file)
        if folder not in self._innermost:
            found, innermost = "", list[LintObject]()
            for path, of_path in self._by_path.items():
                of_stage = folder_of(file, path)
                if len(of_stage) > len(found):
                    found, innermost = of_stage, of_path
            self._innermost[folder] = innermost
        applying = self._innermost[folder]
        return next((item for item in applying if self._stage(item) is not None), None)

    def _stage(self, item: LintObject) -> Stage | None:
        """The patches of a Kustomization as it is applied, so with those that another gives it; nothing without any."""
        key = item.manifest.id
        if key not in self._known:
            self._known[key] = None  # of one that applies itself
            self._known[key] = _with_patches(self._patched(item))
        return self._known[key]

    def _patched(self, item: LintObject) -> LintObject:
        folder, chain = self._way.get(real_path(item.path), ("", ()))
        applying = self._applying(f"{folder}/kustomization.yaml" if folder else item.path)
        if applying is None or applying is item:
            return item
        stage = self._stage(applying)
        if stage is None:
            return item
        key = applying.manifest.id
        return changed(item, (*chain, key), {**self._changing, key: stage}) or item


def _with_patches(item: LintObject) -> Stage | None:
    found: list[Patch] = []
    for index, entry in enumerate(items(item.manifest.body, "spec", "patches")):
        text, target = entry.get("patch"), entry.get("target")
        if isinstance(text, str):
            for_what = Target(target) if isinstance(target, dict) else None
            where = Route((*item.where, "spec", "patches", index, "patch"))
            found += patches_in(text, for_what, item.path, _written(item, where))
    return Stage(found, item.text) if found else None


def _written(item: LintObject, where: Route) -> Route:
    """The place of a patch; that of the whole object where another Kustomization gives it the patch."""
    return item.where if item.changed else where
