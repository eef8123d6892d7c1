"""Finds former names of keys in a spec's text and replaces them in place; everything else stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from trainyard.language.models.renamed import KIND_OF_GROUP, RENAMED, renamed
from trainyard.run.language.documents import lists

API = "trainyard.dev/"
_CLUSTERS = ("TrainingCluster", "TrainingClusterBase")
_BY_MPI = ("mpi", "ncclTest")


class Renaming(NamedTuple):
    """A key under a former name: its line and column, counted from 1, and both names."""

    line: int
    column: int
    former: str
    name: str


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class UnreadableError(Exception):
    """A text that is no YAML."""


def rename(text: str) -> tuple[str, list[Renaming]]:
    """The text with every key under its name of today, and what was renamed. Raises UnreadableError."""
    try:
        roots = list(YAML().compose_all(text))
    except YAMLError:
        raise UnreadableError from None
    edits: list[_Edit] = []
    found: list[Renaming] = []
    for root in roots:
        start = _start(root)
        if start is not None:
            section, node = start
            _walk(node, section, text, edits, found)
    for edit in sorted(edits, key=attrgetter("start"), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text, sorted(found)


def _start(root: Node) -> tuple[str, Node] | None:
    """The node of a document's spec, and the mapping of a whole spec that it is; ``None`` for other documents."""
    entries = dict(_entries(root))
    version, kind, spec = entries.get("apiVersion"), entries.get("kind"), entries.get("spec")
    if version is None or kind is None or spec is None:
        return None
    if not str(version.value).startswith(API):
        return None
    if kind.value in _CLUSTERS:
        return "", spec
    section = lists().get(kind.value)
    return None if section is None else (f"{section}[]", spec)


def _entries(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield str(key.value), value


def _walk(node: Node, section: str, text: str, edits: list[_Edit], found: list[Renaming]) -> None:
    if isinstance(node, SequenceNode):
        for item in node.value:
            _walk(item, f"{section}[]", text, edits, found)
    if not isinstance(node, MappingNode):
        return
    for key, value in node.value:
        former = str(key.value)
        inner = f"{section}.{former}" if section else former
        name = renamed(section, former)
        parts = {
            old.removeprefix(f"{former}."): new
            for old, new in RENAMED.get(section, {}).items()
            if old.startswith(f"{former}.")
        }
        if name:
            found.append(_found(key, former, name))
            edits.append(_Edit(key.start_mark.index, key.end_mark.index, name))
        if former == "apiGroup" and name:
            edits += _kind(node, value)
        elif parts and isinstance(value, MappingNode):
            for part, _ in value.value:
                if part.value in parts:
                    found.append(_found(part, f"{former}.{part.value}", parts[part.value]))
            edits.append(_split(node, key, value, parts, text))
        else:
            _walk(value, inner, text, edits, found)


def _found(key: Node, former: str, name: str) -> Renaming:
    mark = key.start_mark
    return Renaming(mark.line + 1, mark.column + 1, former, name)


def _kind(job: Node, group: Node) -> Iterator[_Edit]:
    """The kind of a job instead of its API group, where that is one."""
    kind = KIND_OF_GROUP.get(str(group.value))
    if kind is None:
        return
    launcher = dict(_entries(job)).get("launcher")
    if kind == "PyTorchJob" and launcher is not None:
        names = [name for name, _ in _entries(launcher)]
        if any(name in _BY_MPI for name in names):
            kind = "MPIJob"
    yield _Edit(group.start_mark.index, group.end_mark.index, kind)


def _split(
    outer: MappingNode, key: Node, value: MappingNode, parts: dict[str, str], text: str
) -> _Edit:
    """The entries of a mapping as entries of the one around it."""
    start = key.start_mark.index
    if value.flow_style or not value.value:
        entries = []
        for part, inner in value.value:
            said = text[inner.start_mark.index : inner.end_mark.index].rstrip()
            entries.append(f"{parts.get(part.value, part.value)}: {said}")
        joint = ", " if outer.flow_style else "\n" + " " * key.start_mark.column
        return _Edit(start, value.end_mark.index, joint.join(entries))
    # In block style its lines move to the left, so that comments stay with them.
    first = text.index("\n", start) + 1
    _, last = value.value[-1]
    end = last.end_mark.index
    lines = []
    for line in text[first:end].split("\n"):
        word, colon, rest = line.lstrip().partition(":")
        lines.append(f"{parts.get(word, word)}{colon}{rest}")
    indent = " " * key.start_mark.column
    moved = [line and indent + line for line in lines]
    return _Edit(start, end, "\n".join(moved).lstrip(" "))
