"""Derive the committed structure: ``python -m ….derive SHARED``, by ``make schemas``.

From the JSON Schemas that were made of botocore's model of SageMaker (Apache-2.0): types, required keys, enumerations,
patterns and bounds. Instance types are a list of their own, since a type without ``ml.`` is reported in other words.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from trainyard.extensions.hyperpod.formats.hyperpod.structure import (
    CLUSTER,
    COMPUTE_QUOTA,
    FILE,
    GROUP,
    SCHEDULER_CONFIG,
    VERSION,
)
from trainyard.verify.structure import Raw, shared, structure

_REQUESTS = (CLUSTER, SCHEDULER_CONFIG, COMPUTE_QUOTA)
_TYPES = "ClusterInstanceType"


def resolved(schema: Raw, definitions: Raw) -> Raw:
    """A schema without references."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name == _TYPES:
            return {"type": "string"}
        return resolved(definitions[name], definitions)
    out: Raw = {}
    for keyword, value in schema.items():
        match keyword:
            case "properties":
                out["properties"] = {
                    name: resolved(child, definitions) for name, child in value.items()
                }
            case "items":
                out["items"] = resolved(value, definitions)
            case "additionalProperties" if isinstance(value, dict):
                out["additionalProperties"] = resolved(value, definitions)
            case "additionalProperties":
                continue
            case "pattern" if "(?" in value.removeprefix("^(?:") or "\\p{Z}" in value:
                continue  # looks ahead, or takes nearly every character
            case _:
                out[keyword] = value
    if out.get("type") == "object" and not out.get("properties"):
        out.setdefault("additionalProperties", True)
    return out


def derived(folder: Path) -> dict[str, Any]:
    """What is committed."""
    kinds: Raw = {}
    types: list[str] = []
    for name in _REQUESTS:
        source = json.loads((folder / f"{name}.schema.json").read_text())
        definitions = source["definitions"]
        kinds[name] = resolved(source, definitions)
        if name == CLUSTER:
            kinds[GROUP] = resolved(definitions["ClusterInstanceGroupSpecification"], definitions)
            types = sorted(definitions[_TYPES]["enum"])
    whole, defs = shared(structure({"type": "object", "properties": kinds}))
    return {
        "source": f"botocore {VERSION}, sagemaker/2017-07-24",
        "schema": whole,
        "defs": defs,
        "instanceTypes": types,
    }


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) / "aws" / "hyperpod"
    text = json.dumps(derived(folder), separators=(",", ":"), sort_keys=True)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text + "\n")
    sys.stdout.write(f"{FILE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
