"""Splits third-party files into sets to judge where several files define an object of the same name.

A kustomization, or the path of one of Flux, applies its files as a whole: an object that is twice in them collides.
Elsewhere files with the same object are alternatives, like the examples of a project: one of them is applied, and each
is judged with the files beside it that do not contradict it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import cache
from itertools import chain, combinations

from trainyard.extensions.lint.clusters import is_too_much
from trainyard.extensions.lint.flux import Paths
from trainyard.extensions.lint.inputs import LintObject
from trainyard.extensions.lint.kustomize import Kustomizations
from trainyard.language.dataclass import dataclass
from trainyard.verify.objects import Identity, identity_of

Roots = Callable[[str], set[str]]
Near = Callable[[str, str], bool]


@dataclass(slots=True)
class Scene:
    """Objects that are judged together, and the files that the findings of this scene are about.

    These are its ``own``, and those that are ``shared`` with other scenes, all of which must agree. ``rivals``: its own
    files are alternatives.
    """

    objects: list[LintObject]
    own: set[str]
    shared: set[str] = field(default_factory=set)
    rivals: bool = False


def scenes(objects: Sequence[LintObject], roots: Roots, near: Near) -> list[Scene]:
    """The scenes of a cluster: one, but for files of which one or another is applied."""
    by_file: dict[str, list[LintObject]] = {}
    for item in objects:
        by_file.setdefault(item.path, []).append(item)
    names = {file: _names(of_file) for file, of_file in by_file.items()}
    contested = _contested(names, roots)
    rivals: list[str] = []
    others: list[str] = []
    for file, identities in names.items():
        if identities & contested:
            rivals.append(file)
        else:
            others.append(file)
    if not rivals:
        return [Scene(list(objects), set(by_file))]
    staged: list[Scene] = []
    casts = _casts(rivals, names, contested, roots)
    for cast, own in casts.items():
        alternatives = _rivals_of(own, rivals, names, contested)
        shared = {file for file in others if _is_meant(file, own, alternatives, near)}
        staged.append(Scene(_objects(by_file, cast | shared), own, shared, rivals=True))
    judged = sum(len(scene.objects) for scene in staged)
    if is_too_much(judged, len(objects)):
        staged = [_without_shared(scene) for scene in staged]
    shared_files: set[str] = set()
    for scene in staged:
        shared_files |= scene.shared
    rest = set(others) - shared_files
    if rest:
        among = _objects(by_file, set(others))
        staged.append(Scene(among, rest))
    return staged


def _objects(by_file: Mapping[str, list[LintObject]], files: AbstractSet[str]) -> list[LintObject]:
    """The objects of some files, in the order of all."""
    chosen = (by_file[file] for file in by_file if file in files)
    return list(chain.from_iterable(chosen))


def _rivals_of(
    own: AbstractSet[str],
    rivals: Iterable[str],
    names: Mapping[str, set[Identity]],
    contested: AbstractSet[Identity],
) -> list[str]:
    """The files that have an object of the same name as one of these."""
    identities: set[Identity] = set()
    for file in own:
        identities |= names[file] & contested
    return [file for file in rivals if not identities.isdisjoint(names[file])]


def _is_meant(file: str, own: AbstractSet[str], alternatives: Iterable[str], near: Near) -> bool:
    """Whether a file belongs with some of which each is one of several: it is near them, and where it is below them in
    a folder of its own, near to all that it may choose from."""
    close = [other for other in own if near(file, other)]
    if not close:
        return False
    folder = os.path.dirname(file)
    for other in close:
        at_or_above = os.path.join(os.path.dirname(other), "").startswith(os.path.join(folder, ""))
        if at_or_above:
            return True
    return all(near(file, other) for other in alternatives)


def _without_shared(scene: Scene) -> Scene:
    shared = scene.shared
    own = [item for item in scene.objects if item.path not in shared]
    return Scene(own, scene.own, rivals=True)


def _names(objects: Iterable[LintObject]) -> set[Identity]:
    """The identities of objects that have a name."""
    identities = {item.manifest.once(identity_of) for item in objects}
    return {identity for identity in identities if identity[3]}


def _contested(names: dict[str, set[Identity]], roots: Roots) -> set[Identity]:
    """The identities that are in several files which nothing applies as a whole."""
    files: dict[Identity, list[str]] = {}
    for file, identities in names.items():
        for identity in identities:
            files.setdefault(identity, []).append(file)
    contested = set()
    for identity, several in files.items():
        if len(several) > 1 and _are_apart(several, roots):
            contested.add(identity)
    return contested


def _are_apart(files: list[str], roots: Roots) -> bool:
    """Whether some two of the files are applied by nothing together."""
    pairs = combinations(map(roots, files), 2)
    return any(one.isdisjoint(other) for one, other in pairs)


def _casts(
    rivals: list[str], names: dict[str, set[Identity]], contested: set[Identity], roots: Roots
) -> dict[frozenset[str], set[str]]:
    """For each file with a contested name the rivals that it is judged with; and which files have the same."""
    folders: dict[str, list[str]] = {}
    for file in rivals:
        folder = os.path.dirname(file)
        folders.setdefault(folder, []).append(file)
    whole: dict[str, frozenset[str]] = {}
    for folder, files in folders.items():
        if _is_one_cast(files, names, contested, roots):
            whole[folder] = frozenset(files)
    casts: dict[frozenset[str], set[str]] = {}
    for file in rivals:
        folder = os.path.dirname(file)
        if folder in whole:
            same_cast = casts.setdefault(whole[folder], set())
            same_cast.add(file)
            continue
        own_roots = roots(file)
        applied = [other for other in rivals if roots(other) & own_roots]
        beside = folders[folder]
        cast = {file}
        identities = names[file] & contested
        for other in (*applied, *beside):
            if other in cast:
                continue
            own = names[other] & contested
            together = roots(other) & own_roots
            if together or own.isdisjoint(identities):
                cast.add(other)
                identities = identities | own
        same_cast = casts.setdefault(frozenset(cast), set())
        same_cast.add(file)
    return casts


def _is_one_cast(
    files: list[str], names: dict[str, set[Identity]], contested: set[Identity], roots: Roots
) -> bool:
    """Whether the files of a folder are judged together whichever is looked at: no name is in two of them, and
    nothing applies one. Known at once, where a look at each pair takes minutes for some thousand files."""
    used: set[Identity] = set()
    for file in files:
        own = names[file] & contested
        if roots(file) or not own.isdisjoint(used):
            return False
        used |= own
    return True


def applied_together(objects: Iterable[LintObject], kustomizations: Kustomizations) -> Roots:
    """What applies a file: kustomizations, and paths of Flux."""
    paths = Paths(objects)

    @cache
    def roots(file: str) -> set[str]:
        return kustomizations.roots(file) | paths.folders(file)

    return roots
