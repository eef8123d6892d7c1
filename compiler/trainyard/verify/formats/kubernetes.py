"""Kubernetes objects, written by cdk8s; judged by released CRDs, the webhooks' rules, and their references."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainyard.language.diagnostics import Diagnostic
from trainyard.lift import read
from trainyard.output.artifact import Artifact
from trainyard.output.emit.yaml import encoded
from trainyard.plan import PlanItem
from trainyard.verify import verify
from trainyard.verify.formats import Setting, objects

LATE = False
TAGS: Mapping[str, str] = {}

# At the top of a YAML document, or in one of brackets and braces (JSON).
_KEY = r"""["']?\b(?:apiVersion|kind)["']?\s*:"""
_OBJECT = rf"(?m)^(?:--- *)?(?:{_KEY}|[{{[][\s\S]*{_KEY})"


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that the cluster would refuse or never run."""
    return verify(
        objects(artifacts),
        closed=setting.closed,
        external=setting.external,
        near=setting.near,
        collide=setting.collide,
    )


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The nodes that objects carry, by who reads their kind."""
    return read(objects(artifacts), closed=closed)


def hinted(text: str) -> bool:
    """Whether a text has ``apiVersion`` or ``kind`` where a document has them."""
    if "\napiVersion:" in text:
        return True
    return re.search(_OBJECT, text) is not None


def recognised(body: Any) -> bool:
    """Whether a document says its API version and kind."""
    return (
        isinstance(body, dict)
        and isinstance(body.get("apiVersion"), str)
        and isinstance(body.get("kind"), str)
    )


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """An object is judged as a whole."""
    return ()


def written(artifact: Artifact) -> bytes:
    """One YAML document."""
    return encoded(artifact.body, artifact.choices)
