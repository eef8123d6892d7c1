"""Headers: a document's ``apiVersion``, ``kind`` and metadata, before its spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import Diagnostic, error, listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places.tree import (
    Document,
    MappingNode,
    Node,
    ScalarNode,
    SourceFile,
    Span,
    text_node,
)

API_VERSION = "trainyard.dev/v1alpha1"
_GROUP = API_VERSION.partition("/")[0]
CLUSTER = "TrainingCluster"
BASE = "TrainingClusterBase"
Kinds = Mapping[str, str]
"""Kinds of documents that are one item of a list of the cluster's spec, each with the list."""

_ROOT_KEYS = ("apiVersion", "kind", "metadata", "spec")


@dataclass(frozen=True, slots=True)
class Header:
    """One document with its kind, its name (empty if it has none) and its file."""

    file: SourceFile
    root: MappingNode
    kind: str
    name: str

    @property
    def at(self) -> Span:
        """The place of the name, or of the first character."""
        metadata = self.root.child("metadata")
        if metadata is not None:
            name = metadata.child("name")
        else:
            name = None
        if name is None:
            return first_character(self.root)
        return name.span

    @property
    def cluster(self) -> ScalarNode | None:
        """``metadata.cluster`` of a part: the name of the cluster that it joins."""
        metadata = self.root.child("metadata")
        if metadata is not None:
            return text_node(metadata.child("cluster"))
        return None


def read_header(
    file: SourceFile, document: Document, kinds: Kinds
) -> tuple[Header | None, list[Diagnostic]]:
    """The header of a document, or why it is none of ours. A cluster's own keys are judged with its spec."""
    root = document.root
    if not isinstance(root, MappingNode):
        fault = error(
            "YML030",
            "a document is not a mapping",
            at=first_character(root),
            help=f"begin with `apiVersion: {API_VERSION}` and `kind: {CLUSTER}`",
        )
        return None, [fault]
    faults = list(_check_value(root, "apiVersion", (API_VERSION,), "YML031"))
    api_version = root.child("apiVersion")
    if api_version is None or _text(api_version).startswith(_GROUP):
        # Of a third-party API the kind is no fault of its own.
        kind_names = (CLUSTER, BASE, *kinds)
        faults += _check_value(root, "kind", kind_names, "YML032")
    if faults:
        return None, faults
    kind = str(root.items["kind"].to_python())
    metadata = root.child("metadata")
    if metadata is not None:
        name = _text(metadata.child("name"))
    else:
        name = ""
    header = Header(file, root, kind, name)
    if kind == BASE:
        faults += _check_base(header)
    elif kind in kinds:
        faults += _check_part(header, kinds[kind])
    return header, faults  # a cluster is judged as a whole, with its spec


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A help text with the nearest known word."""
    return name_meant(word, known) or otherwise


def first_character(node: Node) -> Span:
    """One character at the start of a node."""
    span = node.span
    return Span(span.file, span.line, span.column, span.line, span.column + 1)


def _text(node: Node | None) -> str:
    scalar = text_node(node)
    if scalar is not None:
        return str(scalar.value)
    return ""


def _check_value(
    root: MappingNode, key: str, known: tuple[str, ...], code: str
) -> Iterator[Diagnostic]:
    node = root.child(key)
    choices = listed(known, " or ")
    if node is None:
        yield error(
            "YML030",
            f"no `{key}` in a document",
            at=first_character(root),
            help=f"add `{key}`: {choices}",
        )
    elif _text(node) not in known:
        if isinstance(node, ScalarNode):
            shown = node.text
        else:
            shown = "..."
        yield error(
            code,
            f"unknown {key} `{shown}`",
            at=node.span,
            help=did_you_mean(_text(node), known, f"use {choices}"),
        )


def _check_part(header: Header, section: str) -> Iterator[Diagnostic]:
    """A part is spliced into the cluster, so nothing outside its spec may be lost without a word."""
    root = header.root
    yield from _unknown(header, root, _ROOT_KEYS, header.kind)
    metadata = root.child("metadata")
    if metadata is None or not header.name:
        yield error(
            "YML033",
            f"`{header.kind}` has no `metadata.name`",
            at=(metadata or root).key_span or first_character(root),
            help="add `metadata: {name: ...}`",
        )
    yield from _check_metadata(header, ("name", "cluster"))
    yield from _check_spec(header, f"one item of `spec.{section}`")
    spec = root.child("spec")
    if spec is not None:
        name = spec.child("name")
    else:
        name = None
    if name is not None:
        fault = error(
            "YML035",
            f"`{header.kind}` names itself twice",
            at=name.key_span,
            help="remove `spec.name`",
        )
        yield replace(fault, related=((header.at, "named here"),))


def _check_base(header: Header) -> Iterator[Diagnostic]:
    """Only its spec is merged, so other keys must not be dropped silently either."""
    yield from _unknown(header, header.root, (*_ROOT_KEYS, "extends"), header.kind)
    yield from _check_metadata(header, ("name",))
    has_bases = header.root.child("extends") is not None
    if not has_bases or header.root.child("spec") is not None:
        yield from _check_spec(header, "the `spec` of a cluster")


def _check_metadata(header: Header, known: tuple[str, ...]) -> Iterator[Diagnostic]:
    metadata = header.root.child("metadata")
    if isinstance(metadata, MappingNode):
        yield from _unknown(header, metadata, known, "metadata")


def _check_spec(header: Header, fields: str) -> Iterator[Diagnostic]:
    spec = header.root.child("spec")
    if not isinstance(spec, MappingNode):
        if spec is not None:
            place = spec.span
        else:
            place = first_character(header.root)
        yield error(
            "YML034",
            f"`{header.kind}` has no mapping under `spec`",
            at=place,
            help=f"write the fields of {fields} under `spec:`",
        )


_ELSEWHERE = {
    ("TrainingJob", "namespace"): "write it under `spec`, where jobs have it",
    ("TrainingJob", "labels"): "write it under `spec`, where jobs have it",
}
"""Keys that people know from other places of Kubernetes documents, by kind and key."""


def _unknown(
    header: Header, node: MappingNode, known: tuple[str, ...], where: str
) -> Iterator[Diagnostic]:
    for key, value in node.items.items():
        if key not in known:
            help = _ELSEWHERE.get((header.kind, key))
            help = help or did_you_mean(key, known)
            if key == "extends":
                help = "only clusters and their bases have `extends`"
            yield error(
                "YML036",
                f"unknown key `{key}` in `{where}`",
                at=value.key_span,
                help=help or "remove the key",
            )
