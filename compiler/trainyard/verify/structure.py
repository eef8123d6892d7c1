"""Extracts the structure of an upstream schema: what can be checked, without its prose.

The derived form is JSON with these keywords. As in OpenAPI: ``type`` (a name, or a list of names), ``nullable``,
``properties``, ``required``, ``additionalProperties`` (a schema), ``items``, ``enum``, ``pattern`` (Go RE2),
``default``, ``minimum``, ``maximum``, ``exclusiveMinimum``, ``exclusiveMaximum`` (numbers), ``multipleOf``,
``minLength``, ``maxLength``, ``minItems``, ``maxItems``, ``minProperties``, ``maxProperties``, ``format`` (int32 and
int64 only), ``allOf``, ``anyOf``, ``oneOf``, ``not``. Our own: ``any`` (content is not checked), ``list`` (``map`` or
``set``) with ``keys``, ``later`` (fields that a later release has), ``rules`` (CEL texts), ``syntax`` and
``keySyntax`` (a name of ``trainyard.verify.syntax``) and ``$ref`` (an index into the file's ``defs``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from trainyard.language.re2 import refusal

Raw = dict[str, Any]

BOUNDS = frozenset(
    {
        "minimum",
        "maximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    }
)
_COPIED = BOUNDS | {
    "required",
    "enum",
    "pattern",
    "default",
    "nullable",
    "syntax",
    "keySyntax",
    "any",
    "list",
    "keys",
    "later",
}
_PROSE = frozenset(
    {
        "description",
        "title",
        "example",
        "externalDocs",
        "x-kubernetes-map-type",
        "x-kubernetes-patch-strategy",
        "x-kubernetes-patch-merge-key",
        "x-kubernetes-group-version-kind",
        "x-kubernetes-unions",
        "$schema",
        "$id",
        "x-intellij-html-description",
        "preferredOrder",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-int-or-string",
        "x-kubernetes-selectable-fields",
        "uniqueItems",
    }
)

_OWNER: Raw = {
    "type": "object",
    "required": ["apiVersion", "kind", "name", "uid"],
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "name": {"type": "string"},
        "uid": {"type": "string"},
        "controller": {"type": "boolean"},
        "blockOwnerDeletion": {"type": "boolean"},
    },
}
# meta/v1 ObjectMeta, kubernetes 1.36: what a person writes is checked, what the server writes is let through.
METADATA: Raw = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "generateName": {"type": "string"},
        "namespace": {"type": "string"},
        "labels": {
            "type": "object",
            "keySyntax": "label-key",
            "additionalProperties": {"type": "string", "syntax": "label-value"},
        },
        "annotations": {
            "type": "object",
            "keySyntax": "annotation-key",
            "additionalProperties": {"type": "string"},
        },
        "finalizers": {"type": "array", "list": "set", "items": {"type": "string"}},
        "ownerReferences": {"type": "array", "list": "map", "keys": ["uid"], "items": _OWNER},
        "uid": {"any": True},
        "resourceVersion": {"any": True},
        "generation": {"any": True},
        "creationTimestamp": {"any": True},
        "deletionTimestamp": {"any": True},
        "deletionGracePeriodSeconds": {"any": True},
        "managedFields": {"any": True},
        "selfLink": {"any": True},
    },
}


def structure(schema: Raw) -> Raw:
    """The derived form of an OpenAPI schema. ``ValueError`` for a keyword that is not known: none is dropped in
    silence.
    """
    out: Raw = {}
    for keyword, value in schema.items():
        if keyword in _COPIED:
            out[keyword] = value
        elif keyword not in _PROSE:
            _convert(out, keyword, value, schema)
    if schema.get("x-kubernetes-int-or-string"):
        out["type"] = ["integer", "string"]
    _numeric_exclusive_bounds(out, schema)
    return {key: out[key] for key in sorted(out)}


def _convert(out: Raw, keyword: str, value: Any, schema: Raw) -> None:
    match keyword:
        case "type":
            out["type"] = value
        case "properties":
            out["properties"] = {name: structure(child) for name, child in value.items()}
        case "items" | "not":
            out[keyword] = structure(value)
        case "additionalProperties":
            _additional(out, value)
        case "allOf" | "anyOf" | "oneOf":
            if not schema.get("x-kubernetes-int-or-string"):
                out[keyword] = [structure(branch) for branch in value]
        case _:
            _convert_extension(out, keyword, value, schema)


def _convert_extension(out: Raw, keyword: str, value: Any, schema: Raw) -> None:
    if keyword == "x-kubernetes-list-type":
        if value in ("map", "set"):
            out["list"] = value
        if value == "map":
            out["keys"] = schema["x-kubernetes-list-map-keys"]
    elif keyword == "x-kubernetes-validations":
        out["rules"] = [rule["rule"] for rule in value]
    elif keyword == "format":
        if value in ("int32", "int64"):
            out["format"] = value
    elif keyword in _UNCHECKED:
        if value:
            out["any"] = True
    elif keyword not in ("exclusiveMinimum", "exclusiveMaximum"):
        raise ValueError(f"schema keyword `{keyword}` is not known")


_UNCHECKED = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")


def _additional(out: Raw, value: Any) -> None:
    if value is True or value == {}:
        out["any"] = True
    elif isinstance(value, dict):
        out["additionalProperties"] = structure(value)


def _numeric_exclusive_bounds(out: Raw, schema: Raw) -> None:
    """``exclusiveMinimum: true`` of draft 4 becomes a number, as in later drafts."""
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if (value := schema.get(exclusive)) is True:
            out[exclusive] = out.pop(bound)
        elif value not in (None, False):
            out[exclusive] = value


def from_crd(crd: Raw) -> list[Raw]:
    """The derived schema of each served version of a CustomResourceDefinition.

    ``metadata`` gets the fixed ObjectMeta; rules that an upstream sets on it are kept. ``status`` is left unchecked
    where it is a subresource, since a create or an apply drops it.
    """
    spec = crd["spec"]
    out = []
    for version in spec["versions"]:
        if not version.get("served", True):
            continue
        root = structure(version["schema"]["openAPIV3Schema"])
        properties = root.setdefault("properties", {})
        rules = properties.get("metadata", {}).get("rules")
        properties["metadata"] = {**METADATA, "rules": rules} if rules else METADATA
        properties["apiVersion"] = properties["kind"] = {"type": "string"}
        if "status" in (version.get("subresources") or {}):
            properties["status"] = {"any": True}
        out.append(
            {
                "group": spec["group"],
                "version": version["name"],
                "kind": spec["names"]["kind"],
                "scope": spec["scope"],
                "schema": root,
            }
        )
    return out


def shared(schema: Raw, least: int = 60) -> tuple[Raw, list[Raw]]:
    """The same schema with every subschema that occurs twice written once, in a list that ``$ref`` indexes."""
    counts: dict[str, int] = {}
    _count(schema, counts, least)
    places: dict[str, int] = {}
    defs: list[Raw] = []

    def fold(node: Raw, *, top: bool = False) -> Raw:
        text = ""
        if not top:
            text = json.dumps(node, sort_keys=True)
        if counts.get(text, 0) < 2:
            return _map_children(node, fold)
        if text not in places:
            folded = _map_children(node, fold)
            places[text] = len(defs)
            defs.append(folded)
        return {"$ref": places[text]}

    return fold(schema, top=True), defs


def _count(node: Raw, counts: dict[str, int], least: int) -> None:
    text = json.dumps(node, sort_keys=True)
    if len(text) >= least:
        before = counts.get(text, 0)
        counts[text] = before + 1
        if counts[text] > 1:
            return
    for child in children(node):
        _count(child, counts, least)


def children(node: Raw) -> list[Raw]:
    """The direct subschemas of a schema."""
    below = [*node.get("properties", {}).values()]
    only = [key for key in _ONE_SCHEMA if key in node]
    below += [node[key] for key in only]
    for key in _SCHEMAS:
        below += node.get(key, [])
    return below


_ONE_SCHEMA = ("items", "additionalProperties", "not")
_SCHEMAS = ("allOf", "anyOf", "oneOf")


def _map_children(node: Raw, change: Callable[[Raw], Raw]) -> Raw:
    """A schema with each of its direct subschemas changed."""
    changed = dict(node)
    if "properties" in node:
        properties = node["properties"].items()
        changed["properties"] = {name: change(child) for name, child in properties}
    for key in _ONE_SCHEMA:
        if key in node:
            changed[key] = change(node[key])
    for key in _SCHEMAS:
        if key in node:
            branches = node[key]
            changed[key] = [change(branch) for branch in branches]
    return changed


# A look-ahead by what it says: some character that is no blank; and a length, which bounds of their own say too.
_LOOK_AHEADS = {r"(?!\s*$).+": r".*\S.*", "(?=.{2,256}$)": ""}
_MOST_REPEATED = 1000


def go_pattern(pattern: str) -> str:
    """A pattern of AWS, which is Java's or Python's, in RE2's words; "" where it has none.

    RE2 repeats no more than 1,000 times: beyond that any number of times will do.
    """
    for ahead, same in _LOOK_AHEADS.items():
        pattern = pattern.replace(ahead, same)
    pattern = re.sub(r"\\u([0-9A-Fa-f]{4})", r"\\x{\1}", pattern).replace(r"\Z", r"\z")
    pattern = re.sub(r"\{(\d+),(\d+)\}", _repeated, pattern)
    return "" if refusal(pattern) else pattern


def _repeated(times: re.Match[str]) -> str:
    return times[0] if int(times[2]) <= _MOST_REPEATED else f"{{{times[1]},}}"
