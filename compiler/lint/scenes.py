"""What is judged together, where several files have an object of one name.

A kustomization, or the path of one of Flux, applies its files as a whole: an object that is twice in them collides.
Elsewhere files with the same object are alternatives, like the examples of a project: one of them is applied, and each
is judged with the files beside it that do not contradict it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from compiler.lint.found import Found
from compiler.lint.kustomize import Kustomizations
from compiler.output.body import at
from compiler.verify.objects import Identity, identity_of

_MOST = 20_000
"""Objects that may be judged for the sake of alternatives; beyond, each is judged without what it shares."""
_FLUX = ("kustomize.toolkit.fluxcd.io", "Kustomization")
Roots = Callable[[str], set[str]]
Near = Callable[[str, str], bool]


@dataclass(slots=True)
class Scene:
    """Objects that are judged together, and the files that the findings of this scene are about: its ``own``, and those
    that are ``shared`` with other scenes, of which every one must agree. ``rivals``: its own files are alternatives."""

    objects: list[Found]
    own: set[str]
    shared: set[str] = field(default_factory=set)
    rivals: bool = False


def scenes(found: Sequence[Found], roots: Roots, near: Near) -> list[Scene]:
    """The scenes of a cluster: one, but for files of which one or another is applied."""
    by_file: dict[str, list[Found]] = {}
    for each in found:
        by_file.setdefault(each.path, []).append(each)
    names = {file: _names(objects) for file, objects in by_file.items()}
    contested = _contested(names, roots)
    rivals = [file for file in by_file if names[file] & contested]
    if not rivals:
        return [Scene(list(found), set(by_file))]
    others = [file for file in by_file if not names[file] & contested]
    staged: list[Scene] = []
    for cast, own in _casts(rivals, names, contested, roots).items():
        shared = {file for file in others if any(near(file, each) for each in own)}
        staged.append(
            Scene(
                [
                    each
                    for file in by_file
                    if file in cast or file in shared
                    for each in by_file[file]
                ],
                own,
                shared,
                rivals=True,
            )
        )
    if sum(len(each.objects) for each in staged) > _MOST:
        staged = [
            Scene(
                [each for each in scene.objects if each.path not in scene.shared],
                scene.own,
                rivals=True,
            )
            for scene in staged
        ]
    told = {file for scene in staged for file in scene.shared}
    alone = {file for file in others if file not in told}
    if alone:
        staged.append(Scene([each for file in others for each in by_file[file]], alone))
    return staged


def _names(objects: Iterable[Found]) -> set[Identity]:
    """The identities of objects that have a name."""
    return {
        identity for each in objects if (identity := identity_of(each.manifest.body))[3]
    }


def _contested(names: dict[str, set[Identity]], roots: Roots) -> set[Identity]:
    """The identities that are in several files which nothing applies as a whole."""
    files: dict[Identity, list[str]] = {}
    for file, identities in names.items():
        for identity in identities:
            files.setdefault(identity, []).append(file)
    return {
        identity
        for identity, several in files.items()
        if len(several) > 1 and _apart(several, roots)
    }


def _apart(files: list[str], roots: Roots) -> bool:
    """Whether some two of the files are applied by nothing together."""
    applied = [roots(file) for file in files]
    return any(
        not one & other
        for index, one in enumerate(applied)
        for other in applied[:index]
    )


def _casts(
    rivals: list[str],
    names: dict[str, set[Identity]],
    contested: set[Identity],
    roots: Roots,
) -> dict[frozenset[str], set[str]]:
    """For each file with a contested name the rivals that it is judged with; and which files have the same."""
    folders: dict[str, list[str]] = {}
    for file in rivals:
        folders.setdefault(os.path.dirname(file), []).append(file)
    found: dict[frozenset[str], set[str]] = {}
    for file in rivals:
        applied = roots(file)
        beside = [other for other in rivals if applied and roots(other) & applied]
        beside += folders[os.path.dirname(file)]
        cast, taken = {file}, names[file] & contested
        for other in beside:
            own = names[other] & contested
            if other not in cast and (not own & taken or roots(other) & applied):
                cast.add(other)
                taken = taken | own
        found.setdefault(frozenset(cast), set()).add(file)
    return found


def applied_together(found: Iterable[Found], kustomizations: Kustomizations) -> Roots:
    """What applies a file: kustomizations, and paths of Flux."""
    paths = {
        _parts(at(each.manifest.body, "spec", "path"))
        for each in found
        if identity_of(each.manifest.body)[:2] == _FLUX
    }
    paths.discard("")
    known: dict[str, set[str]] = {}

    def roots(file: str) -> set[str]:
        if file not in known:
            known[file] = kustomizations.roots(file) | {
                each for path in paths if (each := _under(file, path))
            }
        return known[file]

    return roots


def _parts(path: object) -> str:
    parts = path.split("/") if isinstance(path, str) else []
    return "/".join(each for each in parts if each not in ("", "."))


def _under(file: str, path: str) -> str:
    """The folder of a path of Flux that a file is in, or nothing. Where the repository begins is not known."""
    real = os.path.realpath(file).replace("\\", "/")
    place = real.find(f"/{path}/")
    return real[: place + len(path) + 1] if place >= 0 else ""
