"""SOPS configurations: which key encrypts what. SOPS reads one (`--config`) when a file is encrypted.

Source: getsops/sops v3.11.0, README.rst, creation rules; kms/keysource.go: ARNs of keys and of aliases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from trainyard.language.diagnostics import Diagnostic
from trainyard.output.artifact import Artifact
from trainyard.output.emit.yaml import dump
from trainyard.verify.formats import Setting
from trainyard.verify.formats.markdown import hinted, lifted, parts, recognised
from trainyard.verify.node import Node, NodeTable
from trainyard.verify.structure import Raw
from trainyard.verify.verifier import diagnostic
from trainyard.verify.walk import walk

# Those of third parties are not read, as pages are not: they encrypt by what they like.
__all__ = ["LATE", "TAGS", "hinted", "lifted", "parts", "recognised", "verified", "written"]

LATE = False
TAGS: Mapping[str, str] = {}

_RULE: Raw = {
    "type": "object",
    "required": ["kms", "encrypted_regex"],
    "properties": {
        "encrypted_regex": {"type": "string", "minLength": 1},
        "kms": {"type": "string", "pattern": r"^arn:aws[\w-]*:kms:(.+):[0-9]+:(key|alias)/.+$"},
        "path_regex": {"type": "string"},
    },
}
_CONFIGURATION: Raw = {
    "type": "object",
    "required": ["creation_rules"],
    "properties": {"creation_rules": {"type": "array", "items": _RULE, "minItems": 1}},
}


@cache
def _node() -> Node:
    return NodeTable([]).node(_CONFIGURATION)


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """What SOPS would not understand."""
    return list(_faults(artifacts))


def _faults(artifacts: Sequence[Artifact]) -> Iterator[Diagnostic]:
    for artifact in artifacts:
        body: dict[str, Any] = artifact.body
        for fault in walk(_node(), body):
            yield diagnostic(artifact, fault)


def written(artifact: Artifact) -> bytes:
    """One YAML document."""
    return dump(artifact.body).encode()
