"""Derivation from documents that are no CRDs: Kubernetes' core definitions and eksctl's schema."""

from __future__ import annotations

from typing import Any

from compiler.verify.strict import DEFAULTS, FIELDS, REQUIRED
from compiler.verify.structure import METADATA, Raw, structure

_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
QUANTITY = rf"^(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?$"
_SCALARS: dict[str, Raw] = {
    "api.resource.Quantity": {
        "type": ["integer", "number", "string"],
        "pattern": QUANTITY,
    },
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
        return self._add(short(name), node)

    def _node(self, node: Raw) -> Raw:
        if "$ref" in node:
            return self._resolve(node["$ref"].rpartition("/")[2])
        out = {
            key: value
            for key, value in node.items()
            if key not in ("properties", "items", "additionalProperties", "type")
        }
        kinds = node.get("type")
        kinds = (
            [kind for kind in kinds if kind != "null"]
            if isinstance(kinds, list)
            else [kinds]
            if kinds
            else []
        )
        if kinds:
            out["type"] = kinds[0] if len(kinds) == 1 else kinds
        if "properties" in node:
            out["properties"] = {
                name: self._node(child) for name, child in node["properties"].items()
            }
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                out[key] = self._node(node[key])
        if (
            "object" in kinds
            and "properties" not in out
            and "additionalProperties" not in out
        ) or not kinds:
            out["x-kubernetes-preserve-unknown-fields"] = (
                True  # raw extensions and JSON
            )
        return out

    @staticmethod
    def _add(name: str, node: Raw) -> Raw:
        for field, extra in FIELDS.get(name, {}).items():
            node["properties"][field] = {**node["properties"][field], **extra}
        for field, default in DEFAULTS.get(name, {}).items():
            node["properties"][field] = {
                **node["properties"][field],
                "default": default,
            }
        if name in REQUIRED:
            node["required"] = sorted({*node.get("required", ()), *REQUIRED[name]})
        return node


# Fields that eksctl's schema requires and its code does not: who brings a VPC brings its gateway too (eksctl v0.230.0,
# pkg/apis/eksctl.io/v1alpha5/validation.go, validateRemoteNetworkingConfig).
_NOT_REQUIRED = {"RemoteNetworkConfig": {"vpcGatewayID"}}


def from_eksctl(
    document: dict[str, Any], kind: str, newer: dict[str, Any] | None = None
) -> Raw:
    """The derived schema of eksctl's ``kind``; its defaults are texts for its web page, so they are left out.
    ``newer``: the document of a later state, whose additional fields are marked as ``later``."""
    definitions = _marked(document["definitions"], (newer or document)["definitions"])

    def node(schema: Raw) -> Raw:
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/definitions/")
            either = {
                "type": ["array", "object"],
                "additionalProperties": {"type": "string"},
            }
            # "handles unmarshalling both map[string]string and []NodeGroupTaint", and its schema has only the list
            return {
                **node(definitions[name]),
                **(either if name == "taintsWrapper" else {}),
            }
        if len(branches := schema.get("oneOf", ())) == 1:
            return _joined(node(branches[0]), schema)
        out = {key: value for key, value in schema.items() if key != "default"}
        if "properties" in schema:
            out["properties"] = {
                name: node(child) for name, child in schema["properties"].items()
            }
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict) and schema[key]:
                out[key] = node(schema[key])
        if not out.get("type") and "properties" not in out:
            out["x-kubernetes-preserve-unknown-fields"] = True
        return out

    return structure(node(definitions[kind]))


def _marked(definitions: dict[str, Raw], later: dict[str, Raw]) -> dict[str, Raw]:
    """The definitions without what is not required after all, and with the names of the fields that come later."""
    found = {}
    for name, each in definitions.items():
        added = sorted(
            set(later.get(name, {}).get("properties", {}))
            - set(each.get("properties", {}))
        )
        required = [
            field
            for field in each.get("required", ())
            if field not in _NOT_REQUIRED.get(name, ())
        ]
        found[name] = {
            **each,
            **({"required": required} if required else {}),
            **({"later": added} if added else {}),
        }
        if not required:
            found[name].pop("required", None)
    return found


def _joined(one: Raw, beside: Raw) -> Raw:
    """A schema that is one of a single form, together with the fields that stand beside the form."""
    properties = {**one.get("properties", {}), **beside.get("properties", {})}
    required = [*one.get("required", ()), *beside.get("required", ())]
    return (
        {**one, "properties": properties, "required": required}
        if beside.get("properties")
        else one
    )
