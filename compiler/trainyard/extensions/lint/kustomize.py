"""Kustomizations: which files each applies together, which are patches, and what it adds to every object.

Source: kustomize v5.8, api/types/kustomization.go (``resources``, ``components``, ``bases``, ``patches``,
``patchesStrategicMerge``, ``commonLabels``, ``labels``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.disk.inputs import real_path
from trainyard.extensions.lint.changes import Changes
from trainyard.extensions.lint.changing import Chain
from trainyard.extensions.lint.elsewhere import Made
from trainyard.extensions.lint.inputs import LintObject
from trainyard.extensions.lint.namespaces import in_namespace
from trainyard.output.body import mappings_at, texts_at, value_at
from trainyard.output.manifest import Body, Manifest

_OWN = ("resources", "bases", "crds")
_APPLIED = (*_OWN, "components")
_DEEPEST = 100
"""Kustomizations that build on each other; what is deeper is left out."""
_WITH_SELECTOR = frozenset({("apps", "Deployment"), ("apps", "DaemonSet"), ("apps", "StatefulSet")})
_RELABELLED = frozenset({"Service", *(kind for _, kind in _WITH_SELECTOR)})

_Changes = tuple[tuple[str, ...], ...]
_Naming = tuple[str, _Changes]
"""A kustomization, and the changes of names on the way from it to a file."""


class Kustomizations:
    """Every kustomization.yaml that was read. Files are known by their real path."""

    def __init__(self, bodies: Mapping[str, Mapping[str, Any]]) -> None:
        self._bodies: dict[str, Mapping[str, Any]] = {}
        self.changes: dict[str, Changes] = {}
        self._folders: dict[str, str] = {}
        self.patches: set[str] = set()
        for name, body in bodies.items():
            path = _real(name)
            self._bodies[path] = body
            self.changes[path] = Changes(name, body)
            self._folders[os.path.dirname(path)] = path
            self.patches.update(_patches(path, body))
        self._roots: dict[str, set[str]] = {}
        self._names: dict[str, set[_Naming]] = {}
        self._within = self._included()
        for path in self._bodies:
            for file, changes in self._files(path, (), set()):
                self._roots.setdefault(file, set()).add(path)
                self._names.setdefault(file, set()).add((path, changes))

    def applied(self) -> Iterator[dict[str, Chain]]:
        """For each kustomization that no other builds on, which is one that somebody applies, the files that it
        applies: with the kustomizations whose changes their objects get, in this order."""
        for path in sorted(self._bodies.keys() - self._within):
            files: dict[str, Chain] = {}
            self._gather(path, files, set(), 0)
            yield files

    def _included(self) -> set[str]:
        """The kustomizations that others build on, and components, which nobody applies by themselves."""
        within: set[str] = set()
        for path, body in self._bodies.items():
            within.update(self._inner(path, _APPLIED))
            if body.get("kind") == "Component":
                within.add(path)
        return within

    def namespace(self, chain: Chain) -> str:
        """The namespace that the last of some kustomizations gives that gives one; empty without any."""
        given = filter(None, (self.changes[path].namespace for path in reversed(chain)))
        return next(given, "")

    def made(self) -> set[Made]:
        """The ConfigMaps and Secrets that generators make."""
        return {made for changes in self.changes.values() for made in changes.made()}

    def _gather(self, path: str, files: dict[str, Chain], seen: set[str], depth: int) -> None:
        """Add what a kustomization applies to what was applied before, all of which it changes: that is how a
        component gets at the objects of the one that includes it (kustomize v5.8, api/internal/target)."""
        if path in seen or depth > _DEEPEST:
            return
        seen.add(path)
        for inner in self._inner(path, _OWN):
            below: dict[str, Chain] = {}
            self._gather(inner, below, seen, depth + 1)
            files.update(below)
        folder = os.path.dirname(path)
        for field in _OWN:
            for entry in texts_at(self._bodies[path], field):
                target = os.path.normpath(os.path.join(folder, entry))
                if target not in self._folders:
                    files[target] = ()
        for component in self._inner(path, ("components",)):
            self._gather(component, files, seen, depth + 1)
        for file, chain in files.items():
            files[file] = (*chain, path)

    def _inner(self, path: str, fields: Iterable[str]) -> Iterator[str]:
        """The kustomizations that one names."""
        folder = os.path.dirname(path)
        for field in fields:
            for entry in texts_at(self._bodies[path], field):
                target = os.path.normpath(os.path.join(folder, entry))
                inner = self._folders.get(target)
                if inner is not None:
                    yield inner

    def roots(self, file: str) -> set[str]:
        """The kustomizations that apply a file, by themselves or by one that they build on."""
        if not self._roots:
            return set()
        return self._roots.get(_real(file), set())

    def collide(self, one: Manifest, other: Manifest) -> bool:
        """Whether objects of two files that have the same name here have it in the cluster: kustomizations may give
        them different ones."""
        names, others = (self._names.get(_real(each.path)) for each in (one, other))
        if not names or not others:
            return True
        apart = self.roots(one.path).isdisjoint(self.roots(other.path))
        # Where a namespace was given to objects of a known kind, it is part of what makes them the same.
        is_given = not one.ref.namespace and in_namespace(one.ref) is not False
        known = [set(self._named(each, apart, is_given)) for each in (names, others)]
        return not known[0].isdisjoint(known[1])

    def _named(self, namings: Iterable[_Naming], apart: bool, is_given: bool) -> Iterator[_Naming]:
        """The changes of a name: those that each kustomization makes of its own too, where two objects come from
        different ones (``apart``). ``is_given``: whether a namespace that they give is one of them."""
        for path, changes in namings:
            if apart and path in self._within:
                continue
            own = _change(self._bodies[path]) if apart else ()
            whole = (own, *changes) if own else changes
            yield "" if apart else path, whole if is_given else _without_namespace(whole)

    def is_patch(self, file: str) -> bool:
        """Whether a file is a part of objects: one that a kustomization names as a patch, or a spare one beside it,
        which none names and which is called a patch, or lies in a folder that is."""
        if not self._bodies:
            return False
        path = _real(file)
        if path in self.patches:
            return True
        if path in self._roots:
            return False
        folder, name = os.path.split(path)
        above, own = os.path.split(folder)
        if own == "patches" and above in self._folders:
            return True
        return folder in self._folders and "patch" in name

    def built(self, item: LintObject) -> LintObject:
        """The object with the labels that its kustomizations add to selectors, where it leaves that to them; a Service
        with all that they add, since monitors select it by its own."""
        manifest = item.manifest
        ref = manifest.ref
        if ref.kind not in _RELABELLED:
            return item
        spec = manifest.body.get("spec")
        if (ref.group, ref.kind) == ("", "Service"):
            added = self._added(manifest.path)
            if not added:
                return item
            return replace(item, manifest=replace(manifest, body=_labelled(manifest.body, added)))
        if (ref.group, ref.kind) not in _WITH_SELECTOR:
            return item
        if not isinstance(spec, dict):
            return item
        if spec.get("selector") is not None:
            return item
        labels = self._labels(manifest.path)
        if not labels:
            return item
        spec = {**spec, "selector": {"matchLabels": labels}}
        if isinstance(spec.get("template"), dict):
            spec["template"] = _labelled(spec["template"], labels)
        body = {**manifest.body, "spec": spec}
        return replace(item, manifest=replace(manifest, body=body))

    def _labels(self, file: str) -> dict[str, str]:
        """The labels that the first kustomization with any adds to the selectors of a file's objects."""
        for root in sorted(self.roots(file)):
            labels = _selected(self._bodies[root])
            if labels:
                return labels
        return {}

    def _added(self, file: str) -> dict[str, str]:
        """The labels that all kustomizations together add to a file's objects."""
        added: dict[str, str] = {}
        for root in sorted(self.roots(file)):
            body = self._bodies[root]
            given = [value_at(body, "commonLabels")]
            given += [labels.get("pairs") for labels in mappings_at(body, "labels")]
            for pairs in given:
                if isinstance(pairs, dict):
                    added.update(pairs)
        return added

    def _files(
        self, path: str, changes: _Changes, seen: set[str], depth: int = 0
    ) -> Iterator[tuple[str, _Changes]]:
        """The files that a kustomization applies, with the changes of names on the way to them."""
        if path in seen or depth > _DEEPEST:
            return
        seen.add(path)
        folder = os.path.dirname(path)
        for field in _APPLIED:
            for entry in texts_at(self._bodies[path], field):
                joined = os.path.join(folder, entry)
                target = os.path.normpath(joined)
                inner = self._folders.get(target)
                if inner is not None:
                    change = _change(self._bodies[inner])
                    below = (*changes, change) if change else changes
                    yield from self._files(inner, below, seen, depth + 1)
                else:
                    yield target, changes


def _change(body: Mapping[str, Any]) -> tuple[str, ...]:
    """What a kustomization makes of the names of its objects; empty where it leaves them."""
    parts = [body.get(key) for key in ("namePrefix", "nameSuffix", "namespace")]
    if not any(parts):
        return ()
    return tuple(str(part or "") for part in parts)


def _without_namespace(changes: _Changes) -> _Changes:
    """The changes of the name of an object that is in no namespace."""
    names = (change[:2] for change in changes)
    return tuple(change for change in names if any(change))


def _real(path: str) -> str:
    return real_path(path)


def _patches(path: str, body: Mapping[str, Any]) -> Iterator[str]:
    """The files that a kustomization names as patches."""
    folder = os.path.dirname(path)
    entries = [value_at(patch, "path") for patch in mappings_at(body, "patches")]
    entries += texts_at(body, "patches")
    entries += texts_at(body, "patchesStrategicMerge")
    for entry in entries:
        if isinstance(entry, str) and "\n" not in entry:
            yield _real(os.path.join(folder, entry))


def _selected(body: Mapping[str, Any]) -> dict[str, str]:
    """The labels that a kustomization adds to selectors too."""
    given = [value_at(body, "commonLabels")]
    given += [
        labels.get("pairs")
        for labels in mappings_at(body, "labels")
        if labels.get("includeSelectors") is True
    ]
    selected: dict[str, str] = {}
    for pairs in given:
        if isinstance(pairs, dict):
            selected.update(pairs)
    return selected


def _labelled(template: Body, labels: dict[str, str]) -> Body:
    metadata = value_at(template, "metadata")
    own = value_at(metadata, "labels")
    if isinstance(metadata, dict):
        metadata = dict(metadata)
    else:
        metadata = {}
    metadata["labels"] = labels
    if isinstance(own, dict):
        metadata["labels"] = {**own, **labels}
    return {**template, "metadata": metadata}
