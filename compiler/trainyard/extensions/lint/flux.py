"""Which files a Kustomization of Flux applies, and the namespace that it gives to what is in them.

Source: kustomize.toolkit.fluxcd.io/v1 Kustomization, ``spec.path`` and ``spec.targetNamespace``. Where the repository
begins is not known, so a path is found wherever its folders are.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from trainyard.disk.inputs import real_path
from trainyard.extensions.lint.inputs import LintObject
from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.objects import identity_of

STAGE = ("kustomize.toolkit.fluxcd.io", "Kustomization")
_SOURCES = "source.toolkit.fluxcd.io"
_OF_FILES = ("GitRepository", "OCIRepository", "Bucket")
_OWN = "flux-system"
"""The source that ``flux bootstrap`` makes of the repository itself."""


class Paths:
    """The paths of all Kustomizations of Flux, each with the namespaces that these give; "" where one gives none."""

    def __init__(self, objects: Iterable[LintObject]) -> None:
        self._given: dict[str, set[str]] = {}
        stages: list[Body] = []
        sources: set[str] = set()
        for item in objects:
            group, kind, _, name = item.manifest.once(identity_of)
            if (group, kind) == STAGE:
                stages.append(item.manifest.body)
            elif group == _SOURCES and kind in _OF_FILES:
                sources.add(name)
        # Of several sources, those with names of their own are taken for other repositories.
        foreign = sources - {_OWN} if len(sources) > 1 else set()
        for body in stages:
            path = normalized(value_at(body, "spec", "path"))
            namespace = value_at(body, "spec", "targetNamespace")
            if path:
                is_foreign = str(value_at(body, "spec", "sourceRef", "name")) in foreign
                given = self._given.setdefault(path, set())
                given.add(namespace if isinstance(namespace, str) and not is_foreign else "")
        self._gives = any(map(any, self._given.values()))
        self._folders = Folders(self._given)

    def folders(self, file: str) -> set[str]:
        """The folders of paths that a file is in."""
        return set(self._folders.of(file).values())

    def namespace(self, file: str) -> str:
        """The namespace that what is in a file gets; empty without one, and where several are given.

        Of a folder in a folder the inner one gives it: the outer one is applied by a `kustomization.yaml` that names
        the Kustomizations of the inner ones, and not their objects.
        """
        if not self._gives:
            return ""
        given = {
            namespace for path in self._folders.innermost(file) for namespace in self._given[path]
        }
        return given.pop() if len(given) == 1 else ""


def normalized(path: object) -> str:
    """A path of Flux without ``.`` and empty parts."""
    if not isinstance(path, str):
        return ""
    parts = path.split("/")
    return "/".join(part for part in parts if part not in ("", "."))


class Folders:
    """The folders of paths of Flux, wherever those stand."""

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = paths
        self._lengths = sorted({path.count("/") + 1 for path in paths})
        self._known: dict[str, dict[str, str]] = {}

    def of(self, file: str) -> Mapping[str, str]:
        """The paths that a file is in, each with its folder."""
        if not self._paths:
            return {}
        folder = os.path.dirname(real_path(file)).replace("\\", "/")
        if folder not in self._known:
            self._known[folder] = dict(self._found(folder))
        return self._known[folder]

    def innermost(self, file: str) -> list[str]:
        """The paths of the innermost folder that a file is in."""
        found = self.of(file)
        longest = max(map(len, found.values()), default=0)
        return [path for path, folder in found.items() if len(folder) == longest]

    def _found(self, folder: str) -> Iterator[tuple[str, str]]:
        parts = folder.split("/")
        for start in range(
            len(parts) - 1, 0, -1
        ):  # where a path is found twice, the outer folder is the last
            for length in self._lengths:
                end = start + length
                path = "/".join(parts[start:end])
                if end <= len(parts) and path in self._paths:
                    yield path, "/".join(parts[:end]) + "/"
