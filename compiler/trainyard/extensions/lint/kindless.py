"""Documents that look like Kubernetes objects and are not: kubectl refuses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.diagnostics.words import kind_of, with_article
from trainyard.language.places import Document, Node, Route
from trainyard.verify.kinds import kind_meant

_BODY = ("metadata", "spec")
_FIRST = "begin with `apiVersion` and `kind`"


@dataclass(frozen=True, slots=True)
class NoObject:
    """What keeps a document from being an object, and the key where that is seen; empty for the whole of it."""

    message: str
    help: str
    key: str = ""

    def at(self, node: Node) -> Diagnostic:
        """The finding at the place of a document."""
        if self.key:
            route = Route((self.key,))
        else:
            route = Route()
        span = Document(node).span(route, key=True)
        return error("LNT004", self.message, at=span, help=self.help)


def no_object(body: Any) -> NoObject | None:
    """Why a document that was meant for kubectl is no object; ``None`` for an object, and for what may be anything
    else: values and descriptions of charts, patches, parts of other formats."""
    if isinstance(body, list):
        if not any(map(_has_kind, body)):
            return None
        help = "write each after `---`, or all as `items` of a `List`"
        return NoObject("a list of objects is no document", help)
    if body is None:
        return None  # kubectl passes over an empty document, and over `null` (cli-runtime, pkg/resource)
    if not isinstance(body, dict):
        if isinstance(body, str):
            what = "text"
        else:
            what = kind_of(body)
        message = f"a document that is {what}, not an object"
        return NoObject(message, f"remove it, or {_FIRST}")
    if "$patch" in body:
        return None
    parts = [body.get(key) for key in _BODY]
    if not any(isinstance(part, dict) for part in parts):
        return None
    if _is_name(body.get("kind")):
        return _without_version(body)
    return _without_kind(body)


def _has_kind(item: Any) -> bool:
    return isinstance(item, dict) and "apiVersion" in item and "kind" in item


def _without_kind(body: Mapping[str, Any]) -> NoObject | None:
    kind = body.get("kind")
    if kind not in (None, ""):
        message = f"`kind` is {kind_of(kind)}, not text"
        return NoObject(message, "write one kind, like `kind: TrainJob`", "kind")
    help = "add `kind:`, like `kind: TrainJob`"
    for key in ("kind", "apiVersion"):
        if key in body:
            return NoObject("a document has no `kind`", help, key)
    metadata = body.get("metadata")
    if isinstance(metadata, dict) and "name" in metadata:
        message = "a document has neither `apiVersion` nor `kind`"
        return NoObject(message, _FIRST, "metadata")
    return None


def _without_version(body: Mapping[str, Any]) -> NoObject | None:
    version = body.get("apiVersion")
    kind = body["kind"]
    if _is_name(version):
        return None
    if version not in (None, ""):
        message = f"`apiVersion` is {kind_of(version)}, not text"
        help = "write the group and version, like `apiVersion: trainer.kubeflow.org/v1alpha1`"
        return NoObject(message, help, "apiVersion")
    if not isinstance(body.get("metadata"), dict):
        return None  # values of a chart
    if kind_meant("", kind) is not None:
        return None  # the version is known, and reported
    article = with_article(kind).partition(" ")[0]
    message = f"{article} `{kind}` has no `apiVersion`"
    return NoObject(message, "add `apiVersion:` with its group and version", "kind")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)
