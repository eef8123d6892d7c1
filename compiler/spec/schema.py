"""The JSON Schema of the spec language, for editors."""

from __future__ import annotations

import json
from typing import Any

from compiler.spec.base import SpecModel
from compiler.spec.cluster import TrainingCluster
from compiler.spec.jobs import Job
from compiler.spec.nodes import NodePool
from compiler.spec.queues import Queue

KINDS: dict[str, type[SpecModel]] = {
    "TrainingCluster": TrainingCluster, "TrainingJob": Job, "TrainingQueue": Queue, "TrainingNodePool": NodePool,
}
API_VERSION = "trainyard.dev/v1alpha1"


def schema(kind: str) -> dict[str, Any]:
    """The schema of a whole document of a kind (JSON Schema 2020-12)."""
    model = KINDS[kind]
    body = model.model_json_schema(by_alias=True)
    if model is not TrainingCluster:
        body = _document(kind, body)
    else:
        body["properties"]["extends"] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


def _document(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """A document of its own: the fields of a list item, less its name, under ``spec``."""
    definitions = body.pop("$defs", {})
    name = body["properties"].pop("name")
    body["required"] = [each for each in body.get("required", []) if each != "name"]
    return {
        "$defs": definitions, "title": kind, "type": "object", "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {
            "apiVersion": {"const": API_VERSION}, "kind": {"const": kind},
            "metadata": {
                "type": "object", "required": ["name"], "additionalProperties": False,
                "properties": {"name": name, "cluster": {"type": "string"}},
            },
            "spec": body,
        },
    }


def schema_text(kind: str) -> str:
    """The schema as it is printed and committed."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"
