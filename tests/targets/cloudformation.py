"""Derives ``cloudformation.json`` from the schemas that cfn-lint ships: types and names of properties, no prose.

    python -m venv /tmp/cfn && /tmp/cfn/bin/pip install cfn-lint && /tmp/cfn/bin/python tests/targets/cloudformation.py

cfn-lint itself is no dependency: it brings 140 MB for nine types of resources.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

TYPES = (
    "AWS::EKS::AccessEntry",
    "AWS::EKS::PodIdentityAssociation",
    "AWS::Events::Rule",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Role",
    "AWS::IAM::RolePolicy",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
)
_KEPT = (
    "type",
    "required",
    "enum",
    "additionalProperties",
    "$ref",
    "readOnlyProperties",
)
_NESTED = ("properties", "definitions")
WRITTEN = Path(__file__).with_name("cloudformation.json")


def structure(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without descriptions, formats and handlers."""
    found = {key: schema[key] for key in _KEPT if key in schema}
    if "items" in schema:
        found["items"] = structure(schema["items"])
    for key in _NESTED:
        if key in schema:
            found[key] = {name: structure(each) for name, each in schema[key].items()}
    return found


if __name__ == "__main__":
    manager = import_module("cfnlint.schema").PROVIDER_SCHEMA_MANAGER
    schemas = {
        name: structure(manager.get_resource_schema("us-east-1", name).schema)
        for name in TYPES
    }
    source = f"cfn-lint {version('cfn-lint')} (MIT-0), provider schemas of us-east-1"
    lines = [
        f'"{name}": {json.dumps(each, sort_keys=True, separators=(",", ":"))}'
        for name, each in schemas.items()
    ]
    WRITTEN.write_text('{"source": "' + source + '",\n' + ",\n".join(lines) + "\n}\n")
