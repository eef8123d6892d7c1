"""What a file of a cluster's folder consists of: an object, the resources of a stack, or the file itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.places import SourceFile
from trainyard.language.source.parse import parse
from trainyard.output.artifact import Artifact, ref_of
from trainyard.output.body import Path, value_at
from trainyard.output.emit import MANIFEST, UNREADABLE
from trainyard.output.emit.marker import KEY
from trainyard.verify.formats import named, recognised

Body = dict[str, Any]
MEMORY = "memory"
"""The kind of files in which a compilation remembers runs, and what the folder was written from."""
STACK, MODULE = "cloudformation", "terraform"
_OBJECTS = ("kubernetes", "eksctl")
_TEXTS = {".md": "markdown", ".sh": "shell"}


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be added, changed or removed by itself.

    ``kind``: ``NodePool.karpenter.sh``, a type of CloudFormation or Terraform, or the format of a file. ``identity``:
    what tells it apart, whatever its file and the version of its group. ``start``: the keys that lead to its ``body``
    in the file. ``text``: of what has no body.
    """

    kind: str
    identity: tuple[str, ...]
    title: str
    path: str
    body: Body
    start: Path = ()
    text: str = ""


def things(path: str, data: bytes, artifact: Artifact | None) -> Iterator[Thing]:
    """What a file holds. ``artifact``: what it was written from, where that is known."""
    if path == MANIFEST or path.startswith("runs/"):
        yield _file(MEMORY, path, data)
        return
    text = data.decode(errors="replace")
    body = _body(path, text)
    format = artifact.format if artifact is not None else _format(path, body)
    if body is None:
        yield _file(format or "text", path, data)
    elif format in _OBJECTS:
        yield _object(path, body)
    elif format == STACK:
        yield from _stack(path, body)
    elif format == MODULE:
        yield from _module(path, body)
    else:
        yield Thing(format or "yaml", (format, path), path, path, body)


def _file(kind: str, path: str, data: bytes) -> Thing:
    return Thing(kind, (kind, path), path, path, {}, text=data.decode(errors="replace"))


def _body(path: str, text: str) -> Body | None:
    """The mapping that a file of YAML or JSON holds; ``None`` for a text."""
    if not path.endswith((".yaml", ".json")):
        return None
    try:
        if path.endswith(".json"):
            body = json.loads(text)
        else:
            documents, _ = parse(SourceFile(path, text))
            body = documents[0].root.to_python()
    except (*UNREADABLE, IndexError):
        return None
    if not isinstance(body, dict):
        return None
    body.pop(KEY, None)
    return body


def _format(path: str, body: Body | None) -> str:
    """The format of a file that no artifact is known of."""
    if body is not None:
        return recognised(body)
    for ending, format in _TEXTS.items():
        if path.endswith(ending):
            return format
    return next(iter(named(path.rpartition("/")[2])), "")


def _object(path: str, body: Body) -> Thing:
    ref = ref_of(body)
    kind = f"{ref.kind}.{ref.group}" if ref.group else ref.kind
    return Thing(kind, (kind, ref.namespace, ref.name), str(ref), path, body)


def _stack(path: str, body: Body) -> Iterator[Thing]:
    """The resources of a template, each by itself, and the rest of it."""
    resources = _mapping(body.get("Resources"))
    for name, resource in resources.items():
        kind = str(value_at(resource, "Type"))
        start = ("Resources", name)
        yield Thing(
            kind, (path, kind, name), f"{kind} {name}", path, _mapping(resource), start=start
        )
    rest = {key: value for key, value in body.items() if key != "Resources"}
    yield Thing(STACK, (STACK, path), path, path, rest)


def _module(path: str, body: Body) -> Iterator[Thing]:
    """The resources of a module of Terraform, each by itself, and the rest of it."""
    for kind, labelled in _mapping(body.get("resource")).items():
        for name, resource in _mapping(labelled).items():
            start = ("resource", kind, name)
            yield Thing(
                kind, (path, kind, name), f"{kind}.{name}", path, _mapping(resource), start=start
            )
    rest = {key: value for key, value in body.items() if key not in ("resource", "//")}
    yield Thing(MODULE, (MODULE, path), path, path, rest)


def _mapping(value: Any) -> Body:
    """What was edited by hand may be anything."""
    if isinstance(value, Mapping):
        return dict(value)
    return {}
