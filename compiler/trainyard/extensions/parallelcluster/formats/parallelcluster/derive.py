"""Derive the committed structure: ``python -m ….derive SHARED``, by ``make schemas``.

From the JSON Schema that was made of the marshmallow schemas of aws-parallelcluster (Apache-2.0): types, required keys,
enumerations, patterns and bounds, and for each key what ParallelCluster does when it changes (its update policy).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from trainyard.extensions.parallelcluster.formats.parallelcluster.structure import FILE, VERSION
from trainyard.verify.structure import Raw, go_pattern, shared, structure

_UPDATE = "x-update-policy"


def resolved(schema: Raw, definitions: Raw) -> Raw:
    """A schema without references, and without what several branches of ``allOf`` say."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return resolved(definitions[name], definitions)
    out: Raw = {}
    for keyword, value in schema.items():
        match keyword:
            case "allOf":
                for branch in value:
                    out |= resolved(branch, definitions)
            case "properties":
                out["properties"] = {
                    name: resolved(child, definitions) for name, child in value.items()
                }
            case "items":
                out["items"] = resolved(value, definitions)
            case _ if keyword == _UPDATE or keyword.startswith("x-"):
                continue
            case "additionalProperties":
                continue
            case "pattern":
                out["pattern"] = go_pattern(value)
            case _:
                out[keyword] = value
    if out == {} or out == {"type": "object"}:
        return {"type": "object", "additionalProperties": True} if out else {"any": True}
    return out


def updates(schema: Raw, definitions: Raw, path: tuple[str, ...] = ()) -> dict[str, str]:
    """The update policy of each key, by its path; a list's items are below ``[]``."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return updates(definitions[name], definitions, path)
    found: dict[str, str] = {}
    if path and _UPDATE in schema:
        found[".".join(path)] = str(schema[_UPDATE])
    for branch in schema.get("allOf", ()):
        found |= updates(branch, definitions, path)
    for name, child in schema.get("properties", {}).items():
        found |= updates(child, definitions, (*path, name))
    if "items" in schema:
        found |= updates(schema["items"], definitions, (*path, "[]"))
    return found


_SCRIPT = "CustomActionScriptSchema"
_IMDS = {"ImdsSupport": {"type": "string", "enum": ["v1.0", "v2.0"], _UPDATE: "UNSUPPORTED"}}


def corrected(definitions: Raw) -> Raw:
    """The definitions with what a walk over the fields does not see (aws-parallelcluster 3.16.1).

    ``OneOrManyCustomActionField`` takes one script, or several below ``Sequence``; that there is one of the two is
    checked with the rest of ``access``. ``Imds`` at the top is ``common_schema.ImdsSchema``, and that of the head node
    another class of this name (``constants.SUPPORTED_IMDS_VERSIONS``).
    """
    known = dict(definitions)
    for name, one in definitions.items():
        if not name.startswith(_SCRIPT):
            continue
        several = {"type": "array", "items": one, _UPDATE: name.removeprefix(_SCRIPT)}
        parts = {**one["properties"], "Sequence": several}
        known[name] = {"type": "object", "properties": parts}
    known["TopImdsSchema"] = {"type": "object", "properties": _IMDS}
    whole = dict(known["ClusterSchema"])
    imds = {"$ref": "#/definitions/TopImdsSchema", _UPDATE: "UNSUPPORTED"}
    whole["properties"] = {**whole["properties"], "Imds": imds}
    known["ClusterSchema"] = whole
    return known


def derived(source: dict[str, Any]) -> dict[str, Any]:
    """What is committed."""
    definitions = corrected(source["definitions"])
    whole, defs = shared(structure(resolved(source, definitions)))
    return {
        "source": f"aws-parallelcluster {VERSION}, pcluster/schemas",
        "schema": whole,
        "defs": defs,
        "updates": updates(source, definitions),
    }


def main(arguments: list[str]) -> int:
    file = Path(arguments[0]) / "aws" / "parallelcluster" / VERSION / "schema.json"
    text = json.dumps(derived(json.loads(file.read_text())), separators=(",", ":"), sort_keys=True)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text + "\n")
    sys.stdout.write(f"{FILE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
