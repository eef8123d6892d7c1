"""Derives structures from documents that are not CRDs: Kubernetes' core definitions and eksctl's schema."""

from __future__ import annotations

from typing import Any

from trainyard.extensions.facts.strict import DEFAULTS, FIELDS, REQUIRED
from trainyard.verify.structure import METADATA, Raw, structure

_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
QUANTITY = rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"
_SCALARS: dict[str, Raw] = {
    "api.resource.Quantity": {"type": ["integer", "number", "string"], "pattern": QUANTITY},
    "util.intstr.IntOrString": {"type": ["integer", "string"]},
    "meta.v1.Time": {"type": "string"},
    "meta.v1.MicroTime": {"type": "string"},
}


def short(name: str) -> str:
    """``core.v1.Container`` for ``io.k8s.api.core.v1.Container``."""
    return ".".join(name.split(".")[-3:])


class CoreDefinitions:
    """Kubernetes' ``_definitions.json`` with references resolved and the tables of ``strict`` applied."""

    def __init__(self, definitions: dict[str, Raw]) -> None:
        self._definitions = definitions
        self._open: list[str] = []

    def definition(self, name: str) -> Raw:
        """A definition such as ``io.k8s.api.core.v1.PodTemplateSpec``, as a part of another one."""
        return self._resolve(name)

    def kind(self, name: str) -> Raw:
        """The derived schema of a top-level kind such as ``io.k8s.api.core.v1.Pod``."""
        root = self._resolve(name)
        root["properties"] |= {
            "metadata": METADATA,
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
        }
        if "status" in root["properties"]:
            root["properties"]["status"] = {"any": True}
        return structure(root)

    def _resolve(self, name: str) -> Raw:
        if (scalar := _SCALARS.get(short(name))) is not None:
            return dict(scalar)
        if short(name) == "meta.v1.ObjectMeta":
            return dict(METADATA)
        if name in self._open:
            raise ValueError(f"definition `{name}` contains itself")
        self._open.append(name)
        node = self._node(self._definitions[name])
        self._open.pop()
        return self._strict(short(name), node)

    def _node(self, node: Raw) -> Raw:
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            return self._resolve(name)
        derived = dict(node)
        for key in _RESOLVED:
            derived.pop(key, None)
        kinds = _kinds(node)
        if kinds:
            only = len(kinds) == 1
            derived["type"] = kinds[0] if only else kinds
        if "properties" in node:
            properties = node["properties"].items()
            derived["properties"] = {name: self._node(prop) for name, prop in properties}
        for key in ("items", "additionalProperties"):
            schema = node.get(key)
            if isinstance(schema, dict):
                derived[key] = self._node(schema)
        if not kinds or _is_raw_object(kinds, derived):
            derived["x-kubernetes-preserve-unknown-fields"] = True
        return derived

    @staticmethod
    def _strict(name: str, node: Raw) -> Raw:
        extras = FIELDS.get(name, {})
        for field, extra in extras.items():
            declared = node["properties"][field]
            node["properties"][field] = {**declared, **extra}
        defaults = DEFAULTS.get(name, {})
        for field, default in defaults.items():
            declared = node["properties"][field]
            node["properties"][field] = {**declared, "default": default}
        if name in REQUIRED:
            required = set(node.get("required", ()))
            required.update(REQUIRED[name])
            node["required"] = sorted(required)
        return node


_RESOLVED = ("properties", "items", "additionalProperties", "type")


def _kinds(node: Raw) -> list[str]:
    """The types of a schema, as a list without `null`."""
    kinds = node.get("type") or []
    if isinstance(kinds, str):
        return [kinds]
    return [kind for kind in kinds if kind != "null"]


def _is_raw_object(kinds: list[str], schema: Raw) -> bool:
    """Whether a schema is a raw extension or JSON, of which nothing is declared."""
    declared = "properties" in schema or "additionalProperties" in schema
    return "object" in kinds and not declared


# Fields that eksctl's schema requires and its code does not: a VPC of your own has its own gateway (eksctl v0.230.0,
# pkg/apis/eksctl.io/v1alpha5/validation.go, validateRemoteNetworkingConfig).
_NOT_REQUIRED = {"RemoteNetworkConfig": {"vpcGatewayID"}}


def from_eksctl(document: dict[str, Any], kind: str, newer: dict[str, Any] | None = None) -> Raw:
    """The derived schema of eksctl's ``kind``; its defaults are texts for its web page, so they are left out.
    ``newer``: the document of a later state, whose additional fields are marked as ``later``."""
    later = (newer or document)["definitions"]
    definitions = {
        name: _corrected(name, definition, later.get(name, {}))
        for name, definition in document["definitions"].items()
    }

    def node(schema: Raw) -> Raw:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/definitions/")
            derived = node(definitions[name])
            if name == "taintsWrapper":
                return derived | _TAINTS
            return derived
        branches = schema.get("oneOf", ())
        if len(branches) == 1:
            return _joined(node(branches[0]), schema)
        derived = dict(schema)
        derived.pop("default", None)
        if "properties" in schema:
            properties = schema["properties"].items()
            derived["properties"] = {name: node(prop) for name, prop in properties}
        for key in ("items", "additionalProperties"):
            below = schema.get(key)
            if isinstance(below, dict) and below:
                derived[key] = node(below)
        if not derived.get("type") and "properties" not in derived:
            derived["x-kubernetes-preserve-unknown-fields"] = True
        return derived

    return structure(node(definitions[kind]))


_TAINTS: Raw = {"type": ["array", "object"], "additionalProperties": {"type": "string"}}
"""eksctl "handles unmarshalling both map[string]string and []NodeGroupTaint", and its schema has only the list."""


def _corrected(name: str, definition: Raw, later: Raw) -> Raw:
    """A definition without what is not required after all, and with the names of the fields that come later."""
    corrected = dict(definition)
    exempt = _NOT_REQUIRED.get(name, ())
    declared = definition.get("required", ())
    required = [field for field in declared if field not in exempt]
    corrected.pop("required", None)
    if required:
        corrected["required"] = required
    later_fields = later.get("properties", {}).keys()
    added = later_fields - definition.get("properties", {}).keys()
    if added:
        corrected["later"] = sorted(added)
    return corrected


def _joined(form: Raw, beside: Raw) -> Raw:
    """A schema with a single alternative, merged with the fields next to it."""
    fields_beside = beside.get("properties")
    if not fields_beside:
        return form
    properties = {**form.get("properties", {}), **fields_beside}
    required = list(form.get("required", ()))
    required += beside.get("required", ())
    return {**form, "properties": properties, "required": required}
