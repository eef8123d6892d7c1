"""Kustomizations: which files one applies together, which are patches, and what it adds to every object.

Source: kustomize v5.8, api/types/kustomization.go (``resources``, ``components``, ``bases``, ``patches``,
``patchesStrategicMerge``, ``commonLabels``, ``labels``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from compiler.lint.found import Found
from compiler.manifest import Manifest
from compiler.output.body import at, items, texts

_APPLIED = ("resources", "components", "bases", "crds")
_WITH_SELECTOR = frozenset(
    {("apps", "Deployment"), ("apps", "DaemonSet"), ("apps", "StatefulSet")}
)
Body = dict[str, Any]


class Kustomizations:
    """Every kustomization.yaml that was read. Files are known by their real path."""

    def __init__(self, bodies: Mapping[str, Mapping[str, Any]]) -> None:
        self._bodies = {_real(path): body for path, body in bodies.items()}
        self._folders = {os.path.dirname(path): path for path in self._bodies}
        self.patches = {
            file for path, body in self._bodies.items() for file in _patches(path, body)
        }
        self._roots: dict[str, set[str]] = {}
        for path in self._bodies:
            for file in self._files(path, set()):
                self._roots.setdefault(file, set()).add(path)

    def roots(self, file: str) -> set[str]:
        """The kustomizations that apply a file, by themselves or by one that they build on."""
        return self._roots.get(_real(file), set()) if self._roots else set()

    def is_patch(self, file: str) -> bool:
        """Whether a file is a part of objects: one that a kustomization names as a patch, or a spare one beside it,
        which none names and which is called a patch."""
        if not self._bodies:
            return False
        real = _real(file)
        spare = os.path.dirname(real) in self._folders and real not in self._roots
        return real in self.patches or (spare and "patch" in os.path.basename(real))

    def built(self, found: Found) -> Found:
        """The object with the labels that its kustomizations add to selectors, where it leaves that to them."""
        manifest = found.manifest
        body = manifest.body
        if (manifest.ref.group, manifest.ref.kind) not in _WITH_SELECTOR or at(
            body, "spec", "selector"
        ) is not None:
            return found
        labels = [
            each
            for root in sorted(self.roots(manifest.path))
            if (each := _selected(self._bodies[root]))
        ]
        if not labels or not isinstance(body.get("spec"), dict):
            return found
        spec = {**body["spec"], "selector": {"matchLabels": labels[0]}}
        if isinstance(spec.get("template"), dict):
            spec["template"] = _labelled(spec["template"], labels[0])
        return Found(
            Manifest({**body, "spec": spec}, path=manifest.path, key=manifest.key),
            found.text,
            found.where,
        )

    def _files(self, path: str, seen: set[str]) -> Iterator[str]:
        """The files that a kustomization applies."""
        if path in seen:
            return
        seen.add(path)
        folder = os.path.dirname(path)
        for field in _APPLIED:
            for each in texts(self._bodies[path], field):
                target = os.path.normpath(os.path.join(folder, each))
                if (inner := self._folders.get(target)) is not None:
                    yield from self._files(inner, seen)
                elif "://" not in each:
                    yield target


def _real(path: str) -> str:
    return os.path.realpath(path)


def _patches(path: str, body: Mapping[str, Any]) -> Iterator[str]:
    """The files that a kustomization names as patches."""
    folder = os.path.dirname(path)
    named = [at(each, "path") for each in items(body, "patches")]
    named += [*texts(body, "patches"), *texts(body, "patchesStrategicMerge")]
    for each in named:
        if isinstance(each, str) and "\n" not in each:
            yield _real(os.path.join(folder, each))


def _selected(body: Mapping[str, Any]) -> dict[str, str]:
    """The labels that a kustomization adds to selectors too."""
    given = [at(body, "commonLabels")]
    given += [
        each.get("pairs")
        for each in items(body, "labels")
        if each.get("includeSelectors") is True
    ]
    return {
        key: value
        for labels in given
        if isinstance(labels, dict)
        for key, value in labels.items()
    }


def _labelled(template: Body, labels: dict[str, str]) -> Body:
    metadata = template.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    have = metadata.get("labels")
    return {
        **template,
        "metadata": {
            **metadata,
            "labels": {**(have if isinstance(have, dict) else {}), **labels},
        },
    }
