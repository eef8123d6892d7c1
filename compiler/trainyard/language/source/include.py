"""Reads the adopter's own objects from files that a spec includes."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.disk.inputs import exists, is_folder, real_path
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import Diagnostic, error
from trainyard.language.diagnostics.words import shortened
from trainyard.language.places.route import Key, Route
from trainyard.language.places.tree import Document, MappingNode, Node, ScalarNode, SequenceNode
from trainyard.language.source.headers import first_character
from trainyard.language.source.manifests import parse_manifests
from trainyard.language.source.nearby import ancestors
from trainyard.language.source.read import is_yaml, read, walk

_KEY = "include"
_OURS = "trainyard.dev/"
_KUSTOMIZE = "kustomize.config.k8s.io/"


@dataclass(slots=True)
class IncludeNode(ScalarNode):
    """A path of ``include``: its children are the objects of its files, in order, each with its own file and lines."""

    objects: list[MappingNode] = dataclasses.field(default_factory=list)

    def child(self, key: Key) -> Node | None:
        if isinstance(key, int) and 0 <= key < len(self.objects):
            return self.objects[key]
        return None


@dataclass(frozen=True, slots=True)
class Included:
    """An object that a spec includes: its route in the spec's document, its file, and its body."""

    at: Route
    file: str
    body: dict[str, Any]


def included(document: Document) -> list[Included]:
    """The objects that a spec includes."""
    objects: list[Included] = []
    paths = _paths(document.root)
    if paths is None:
        return objects
    for index, path in enumerate(paths.items):
        if isinstance(path, IncludeNode):
            at = Route(("spec", _KEY, index))
            for place, node in enumerate(path.objects):
                file = node.span.file.name
                objects.append(Included(at / place, file, node.to_python()))
    return objects


def with_included(root: MappingNode, faults: list[Diagnostic]) -> tuple[MappingNode, set[str]]:
    """A spec with the objects of its ``include`` below the paths there, and the files that these are from, by their
    real paths."""
    paths = _paths(root)
    if paths is None:
        return root, set()
    files: set[str] = set()
    nodes = [_read_path(node, files, faults) for node in paths.items]
    listed = SequenceNode(paths.span, nodes, key_span=paths.key_span)
    spec = root.items["spec"]
    assert isinstance(spec, MappingNode)
    items = {**spec.items, _KEY: listed}
    whole = MappingNode(spec.span, items, key_span=spec.key_span)
    with_files = {**root.items, "spec": whole}
    return MappingNode(root.span, with_files, key_span=root.key_span), files


def _paths(root: Node) -> SequenceNode | None:
    spec = root.child("spec")
    if spec is None:
        return None
    paths = spec.child(_KEY)
    if isinstance(paths, SequenceNode):
        return paths
    return None


def _read_path(node: Node, files: set[str], faults: list[Diagnostic]) -> Node:
    """A path with its objects; what is no text is left for the spec's own check."""
    if not isinstance(node, ScalarNode):
        return node
    if not isinstance(node.value, str):
        return node
    objects: list[MappingNode] = []
    for path in _files(node, faults):
        files.add(real_path(path))
        objects += _objects(path, faults)
    return IncludeNode(
        node.span, node.value, node.text, node.quoted, objects, key_span=node.key_span
    )


def _files(node: ScalarNode, faults: list[Diagnostic]) -> list[str]:
    """The files that a path matches: relative to the file that it is written in, and of its repository."""
    file = os.path.abspath(node.span.file.name)
    home = os.path.dirname(file)
    written = str(node.value)
    whole = os.path.normpath(os.path.join(home, written))
    path = os.path.relpath(whole)
    if not exists(path):
        faults.append(
            error(
                "YML046",
                f"there is no `{path}` to include",
                at=node.span,
                help="check the path; it is relative to the file that it is written in",
            )
        )
        return []
    paths = [path]
    if is_folder(path):
        paths = list(_walk(path, faults))
    root = repository_of(real_path(home))
    reached = (path, *paths)
    outside = [file for file in reached if not below(root, file)]
    if outside or os.path.isabs(written):
        shown = written
        if outside and outside[0] != path:
            shown = outside[0]
        faults.append(
            error(
                "YML047",
                f"`{shown}` is outside the repository of the spec",
                at=node.span,
                help="write a path relative to this file, to a file or folder of this repository",
            )
        )
        return []
    if not paths:
        faults.append(
            error(
                "YML046",
                f"no YAML file in `{path}`",
                at=node.span,
                help="name a file, or a folder with `*.yaml`",
            )
        )
    return paths


def repository_of(folder: str) -> str:
    """The root of a folder's repository; the folder itself where it is in none."""
    for above in ancestors(folder):
        repository = os.path.join(above, ".git")
        if exists(repository):
            return above
    return folder


def below(root: str, path: str) -> bool:
    """Whether a path, with all links followed, is in a folder."""
    real = real_path(path)
    folder = os.path.join(root, "")
    return real == root or real.startswith(folder)


def _walk(folder: str, faults: list[Diagnostic]) -> Iterator[str]:
    """The YAML files of a folder, hidden ones left out."""
    for parent, folders, names in walk(folder, faults):
        visible = [name for name in folders if not _is_hidden(name)]
        folders[:] = sorted(visible)
        for name in sorted(names):
            if is_yaml(name) and not _is_hidden(name):
                path = os.path.join(parent, name)
                yield os.path.normpath(path)


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _objects(path: str, diagnostics: list[Diagnostic]) -> Iterator[MappingNode]:
    file, faults = read(path)
    diagnostics += faults
    if file is None:
        return
    documents, faults = parse_manifests(file)
    diagnostics += faults
    for document in documents:
        for node in _items(document.root):
            fault = _no_object(node)
            if fault is not None:
                diagnostics.append(fault)
            elif isinstance(node, MappingNode):
                yield node


def _items(node: Node) -> Sequence[Node]:
    """A document's objects: of a ``List`` of Kubernetes its items."""
    items = node.child("items")
    is_list = _text(node, "kind") == "List"
    if is_list and isinstance(items, SequenceNode):
        return items.items
    return [node]


def _no_object(node: Node) -> Diagnostic | None:
    """Why a document is nothing that Flux could apply."""
    api_version = _text(node, "apiVersion")
    metadata = node.child("metadata")
    if metadata is not None:
        name = _text(metadata, "name")
    else:
        name = ""
    if api_version.startswith(_OURS):
        fact = "a document of a spec is included"
        help = "put it next to the spec: it is read as a part of it"
    elif api_version.startswith(_KUSTOMIZE):
        fact = "a `kustomization.yaml` is included, which is no object of a cluster"
        help = "include the files that it names, and write its patches under `patches:`"
    elif not (api_version and _text(node, "kind") and name):
        fact = "a document is no object with `apiVersion`, `kind` and `metadata.name`"
        help = "include objects of Kubernetes alone"
    elif not re.match(_API_VERSION, api_version):
        fact = f"`{shortened(api_version, 60)}` is no API version"
        help = "write a version, or `group/version`, like `apps/v1`"
    elif not re.match(_KIND, _text(node, "kind")):
        fact = f"`{shortened(_text(node, 'kind'), 60)}` is no kind"
        help = "write a word of letters and digits, like `ConfigMap`"
    elif not re.match(_NAME, name):
        fact = f"`{shortened(name, 60)}` is no name of an object"
        help = "write a name of at most 253 characters, without `/`, `%` and blanks"
    elif not _is_namespace(_text(metadata, "namespace") if metadata else ""):
        fact = "the namespace is no name"
        help = "write small letters, digits and `-`, at most 63"
    else:
        return None
    return error("YML048", fact, at=first_character(node), help=help)


# Kubernetes 1.36: names that are segments of a path (apimachinery, api/validation/path), kinds of
# CustomResourceDefinitions (names.kind: a DNS label in small letters), groups and versions.
_NAME = r"(?!\.{1,2}\Z)[^/%\s]{1,253}\Z"
_KIND = r"[A-Za-z][A-Za-z0-9]{0,62}\Z"
_API_VERSION = r"(?:[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?/)?v[0-9][a-z0-9]{0,61}\Z"
_NAMESPACE = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z"


def _is_namespace(name: str) -> bool:
    return not name or re.match(_NAMESPACE, name) is not None


def _text(node: Node, key: str) -> str:
    value = node.child(key)
    if isinstance(value, ScalarNode) and isinstance(value.value, str):
        return value.value
    return ""
