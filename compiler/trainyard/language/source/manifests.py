"""Reads Kubernetes manifests the way the programs that apply them do.

kubectl, Flux, Kustomize and eksctl read YAML by sigs.k8s.io/yaml (v1.6.0, on go.yaml.in/yaml/v2), which settles what
YAML 1.1 and 1.2 read differently: `0755` is 493, `yes` is true, `22:30` is text, `<<` merges. A manifest may rely on
that; a spec of ours, which other readers see too, may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from trainyard.language.diagnostics.diagnostic import Diagnostic
from trainyard.language.places.tree import Document, ScalarNode, SourceFile
from trainyard.language.source.parse import parse
from trainyard.language.source.scalars import BOOLEANS_1_1, TRUE_1_1, Value

Place = tuple[int, int]
"""Line and column."""

_AMBIGUOUS = ("YML008", "YML009")
_MERGE_KEY = "YML015"
_OCTAL = r"[-+]?0[0-7]+\Z"
_BASE_60 = r"[^:]+(?::[^:]+)+\Z"


def parse_manifests(
    file: SourceFile, tags: Mapping[str, str] | None = None
) -> tuple[list[Document], list[Diagnostic]]:
    """As `parse`, with every value that Kubernetes' reader has one reading of read by it. ``tags``: short forms of
    another format that is written in YAML 1.1, see ``Composer``."""
    documents, faults = parse(file, tags=tags)
    faults = [fault for fault in faults if fault.code != _MERGE_KEY]
    ambiguous = [fault for fault in faults if fault.code in _AMBIGUOUS]
    doubted = set(map(_place, ambiguous)) - {None}
    if not doubted:
        return documents, faults
    settled = set()
    for document in documents:
        settled |= _settle(document, doubted)
    open_faults = [
        fault for fault in faults if fault.code not in _AMBIGUOUS or _place(fault) not in settled
    ]
    return documents, open_faults


def _place(fault: Diagnostic) -> Place | None:
    if fault.span is None:
        return None
    return fault.span.line, fault.span.column


def _settle(document: Document, doubted: AbstractSet[Place | None]) -> set[Place]:
    """Give doubted values their reading; the places of those that have one."""
    settled: set[Place] = set()
    for _, node in document.routes():
        place = node.span.line, node.span.column
        if not isinstance(node, ScalarNode) or node.quoted:
            continue
        if place not in doubted:
            continue
        try:
            node.value = _read(node.text)
        except ValueError:
            continue  # `089`: no reader takes it for what was meant
        settled.add(place)
    return settled


def _read(text: str) -> Value:
    """The value of a scalar that YAML 1.1 and 1.2 read differently (go.yaml.in/yaml/v2 v2.4.4, resolve.go)."""
    if text in BOOLEANS_1_1:
        return text in TRUE_1_1
    if re.match(_BASE_60, text):
        return text
    plain = text.replace("_", "")
    if re.match(_OCTAL, plain):
        return int(plain, 8)
    if "." in plain:
        return float(plain)
    return int(plain, 0)


__all__ = ["parse_manifests"]
