"""eksctl's ClusterConfig: not an object in a cluster; judged by eksctl's published schema and its own checks."""

from __future__ import annotations

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
_API = "eksctl.io/"


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that eksctl would refuse, by ``verify/webhooks/clusterconfig.py`` and the schema of its release."""
    return verify(objects(artifacts), closed=setting.closed)


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The cluster that a ClusterConfig describes."""
    return read(objects(artifacts), closed=closed)


def hinted(text: str) -> bool:
    """Whether a text names eksctl's API."""
    return _API in text


def recognised(body: Any) -> bool:
    """Whether a document is of eksctl's API."""
    if not isinstance(body, dict):
        return False
    return str(body.get("apiVersion")).startswith(_API)


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """A ClusterConfig is judged as a whole."""
    return ()


def written(artifact: Artifact) -> bytes:
    """One YAML document."""
    return encoded(artifact.body, artifact.choices)
