"""The JSON Schema of the spec language, for editors."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from trainyard.core.jobs.launchers.filling import FILLING, OF_RUNTIME
from trainyard.language.models.editor import shape_of
from trainyard.language.source.inherit import DEFAULTS, NEVER_INHERITED
from trainyard.run.language.documents import documents
from trainyard.run.language.whole import every_language
from trainyard.run.platforms import PLATFORMS

_BASE = "TrainingClusterBase"
KINDS = ("TrainingCluster", _BASE, *documents())
ALL = "all"
"""Selects the one schema for all documents in a folder of specs."""
API_VERSION = "trainyard.dev/v1alpha1"
_DEFINITIONS = "#/$defs/"
_PARTIAL = "Partial"  # begins the names of definitions of which anything may be left to a base
_EXTENDS = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    "description": "The files of the bases, relative to this one; a later base wins over an earlier one.",
    "examples": ["base.yaml", ["../base.yaml", "h100.yaml"]],
}
_NAME = {
    "type": "string",
    "description": "A name for whoever reads the base; nothing refers to it.",
    "examples": ["shared"],
}
_CLUSTER = {
    "type": "string",
    "examples": ["research"],
    "description": "The cluster that it belongs to, where the folder has several.",
}


class _Editors(GenerateJsonSchema):
    """With what checks say of themselves (language/models/editor.py), and the form of the keys of a mapping."""

    def function_before_schema(
        self, schema: core_schema.BeforeValidatorFunctionSchema
    ) -> JsonSchemaValue:
        check = schema["function"]["function"]
        return {**super().function_before_schema(schema), **shape_of(check)}

    def function_after_schema(
        self, schema: core_schema.AfterValidatorFunctionSchema
    ) -> JsonSchemaValue:
        check = schema["function"]["function"]
        return {**super().function_after_schema(schema), **shape_of(check)}

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        names = self.generate_inner(schema["keys_schema"])
        values = self.generate_inner(schema["values_schema"])
        body: JsonSchemaValue = {"type": "object", "additionalProperties": values}
        if "max_length" in schema:
            body["maxProperties"] = schema["max_length"]
        return body | {"propertyNames": names}


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    body = model.model_json_schema(by_alias=True, schema_generator=_Editors)
    definitions = body.get("$defs", {})
    for definition in (body, definitions.get("Job")):
        if definition is not None and definition["title"] == "Job":
            _list_kinds(definition["properties"]["kind"])
    return body


def _list_kinds(key: dict[str, Any]) -> None:
    """The kinds of jobs that a spec may name on some platform, which the core does not know."""
    naming = [each for each in PLATFORMS.values() if each.instead_of("jobs.kind") is None]
    names = [name for platform in naming for name in platform.asked().kinds()]
    key["anyOf"][0] = {"type": "string", "enum": list(dict.fromkeys(names))}


def schema(kind: str) -> dict[str, Any]:
    """The schema of a whole document of a kind (JSON Schema 2020-12)."""
    if kind in documents():
        _, model = documents()[kind]
        body = _document(kind, _schema_of(model))
    else:
        cluster = _schema_of(every_language())
        if kind == _BASE:
            body = _base(cluster)
        else:
            body = _cluster(cluster)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}


def combined() -> dict[str, Any]:
    """The schema of a document of any kind, for a folder that holds several: its ``kind`` says which one it must fit.

    Definitions that several kinds share are there once; where they differ, that of the later kind has its name before.
    """
    definitions: dict[str, Any] = {}
    choices = []
    for kind in KINDS:
        body = schema(kind)
        del body["$schema"]
        own = body.pop("$defs", {})
        names = {name: f"{kind}.{name}" for name in _different(own, definitions)}
        for name, definition in own.items():
            definitions[names.get(name, name)] = _renamed(definition, names)
        definitions[kind] = _renamed(body, names)
        choices.append(
            {
                "if": {"required": ["kind"], "properties": {"kind": {"const": kind}}},
                "then": {"$ref": f"{_DEFINITIONS}{kind}"},
            }
        )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": definitions,
        "title": "Trainyard",
        "description": "A document of a spec, of any kind.",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            "kind": {
                "enum": list(KINDS),
                "description": "What the document is.",
                "examples": [KINDS[0]],
            }
        },
        "allOf": choices,
    }


def _different(own: dict[str, Any], known: dict[str, Any]) -> set[str]:
    """The definitions that are others than those known by the same name, or lead to such."""
    different = {
        name for name, definition in own.items() if name in known and known[name] != definition
    }
    grown = True
    while grown:
        more = {
            name
            for name, definition in own.items()
            if name not in different and _refs(definition) & different
        }
        different |= more
        grown = bool(more)
    return different


def _refs(schema: Any) -> set[str]:
    """The names of the definitions that a schema leads to at once."""
    if isinstance(schema, list):
        values = schema
    elif isinstance(schema, dict):
        values = list(schema.values())
    else:
        return set()
    names: set[str] = set()
    ref = schema.get("$ref") if isinstance(schema, dict) else None
    if isinstance(ref, str):
        names.add(ref.removeprefix(_DEFINITIONS))
    for value in values:
        names |= _refs(value)
    return names


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    """A schema that leads to definitions by other names."""
    if isinstance(schema, list):
        return [_renamed(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {key: _renamed(value, names) for key, value in schema.items()}
    ref = schema.get("$ref")
    if isinstance(ref, str):
        name = ref.removeprefix(_DEFINITIONS)
        renamed["$ref"] = _DEFINITIONS + names.get(name, name)
    return renamed


def _cluster(body: dict[str, Any]) -> dict[str, Any]:
    """With ``extends``, a base may have what is missing; pools may be documents of their own."""
    definitions = body["$defs"]
    models = definitions.items()
    partials = {_PARTIAL + name: _partial(model) for name, model in models}
    definitions |= partials
    definitions["ClusterSpec"]["required"].remove("nodePools")
    _let_inherit(definitions)
    for spec in ("ClusterSpec", f"{_PARTIAL}ClusterSpec"):
        _with_defaults(definitions, spec)
    whole = body["properties"].pop("spec")
    partial = _partial({"$ref": f"{_DEFINITIONS}ClusterSpec"})
    body["properties"] |= {"spec": {}, "extends": _EXTENDS}
    return body | {
        "if": {"required": ["extends"]},
        "then": {"properties": {"spec": partial}},
        "else": {"properties": {"spec": whole}},
    }


def _let_inherit(definitions: dict[str, Any]) -> None:
    """What a pool that extends another leaves out is there; of a job, also what ``jobDefaults`` may give."""
    pool = definitions["NodePool"]
    job = definitions["Job"]
    pool |= _unless("extends", {"required": _but_name(pool)})
    whole_job = _unless("extends", _unless_filled(_but_name(job)))
    pool["required"] = job["required"] = ["name"]
    whole = {"properties": {"jobs": {"items": whole_job}}}
    definitions["ClusterSpec"] |= _unless(DEFAULTS, whole)


def _unless_filled(required: list[str]) -> dict[str, Any]:
    """What a job must say, but for what its launcher or runtime says."""
    schema: dict[str, Any] = {"required": required}
    for launcher, keys in FILLING.items():
        named = {"launcher": {"required": [launcher]}}
        schema = {
            "if": {"required": ["launcher"], "properties": named},
            "then": {"required": [key for key in required if key not in keys]},
            "else": schema,
        }
    return {
        "if": {"required": ["runtime"]},
        "then": {"required": [key for key in required if key not in OF_RUNTIME]},
        "else": schema,
    }


def _unless(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that holds where a key is not given."""
    return {"if": {"required": [key]}, "then": {}, "else": schema}


def _but_name(schema: dict[str, Any]) -> list[str]:
    return [key for key in schema["required"] if key != "name"]


def _with_defaults(definitions: dict[str, Any], spec: str) -> None:
    """``jobDefaults`` of a spec: any part of a job that another can inherit."""
    part = definitions[f"{_PARTIAL}Job"]
    keys = part["properties"]
    inherited = dict(keys)
    for name in NEVER_INHERITED:
        inherited.pop(name, None)
    definitions["JobDefaults"] = {
        **part,
        "title": "JobDefaults",
        "description": "What every job has that does not say it itself.",
        "properties": inherited,
    }
    field = definitions[spec]["properties"][DEFAULTS]
    definitions[spec]["properties"][DEFAULTS] = {
        "$ref": f"{_DEFINITIONS}JobDefaults",
        "description": field["description"],
        "examples": field["examples"],
    }


def _base(cluster: dict[str, Any]) -> dict[str, Any]:
    """A part of a cluster's spec, at any depth."""
    definitions = {
        _PARTIAL + name: _partial(model)
        for name, model in cluster["$defs"].items()
        if name != "Metadata"
    }
    _with_defaults(definitions, f"{_PARTIAL}ClusterSpec")
    return {
        "$defs": definitions,
        "title": _BASE,
        "description": "What several clusters share.",
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind"],
        "anyOf": [{"required": ["spec"]}, {"required": ["extends"]}],
        "properties": {
            **_header(_BASE),
            "extends": _EXTENDS,
            "metadata": {
                "description": "The name of the base; it may be left out.",
                "examples": [{"name": "shared"}],
                "type": "object",
                "additionalProperties": False,
                "properties": {"name": _NAME},
            },
            "spec": {
                **_partial({"$ref": f"{_DEFINITIONS}ClusterSpec"}),
                "description": "Any part of a cluster's spec.",
                "examples": [{"tags": {"cost-center": "research"}}],
            },
        },
    }


def _header(kind: str) -> dict[str, Any]:
    """What every document begins with."""
    return {
        "apiVersion": {
            "const": API_VERSION,
            "description": "The version of the spec language.",
            "examples": [API_VERSION],
        },
        "kind": {"const": kind, "description": "What the document is.", "examples": [kind]},
    }


# What a part need not have, or has only with the rest.
_OF_THE_WHOLE = frozenset(
    ("minItems", "minProperties", "prefixItems", "oneOf", "not", "dependentRequired")
)


def _partial(schema: Any) -> Any:
    """The schema of a part of the values: nothing is required, at any depth, and lists may be empty."""
    if isinstance(schema, list):
        return [_partial(item) for item in schema]
    if isinstance(schema, str):
        return schema.replace(_DEFINITIONS, _DEFINITIONS + _PARTIAL)
    if not isinstance(schema, dict):
        return schema
    partial = {}
    for key, value in schema.items():
        is_required_list = key == "required" and isinstance(value, list)
        if key not in _OF_THE_WHOLE and not is_required_list:
            partial[key] = _partial(value)
    return partial


def _document(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """A document of its own: the fields of a list item, without its name, under ``spec``."""
    definitions = body.pop("$defs", {})
    name = body["properties"].pop("name")
    required = _but_name(body)
    examples = {"examples": [_example(body, required)]}
    del body["required"]
    if kind == "TrainingNodePool":
        body |= _unless("extends", {"required": required})
    elif kind != "TrainingJob":  # what a job lacks the cluster's `jobDefaults` may give
        body["required"] = required
    return {
        "$defs": definitions,
        "title": kind,
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {
            **_header(kind),
            "metadata": {
                "description": "The name of it, and the cluster that it belongs to.",
                "examples": [{"name": name["examples"][0]}],
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": name, "cluster": _CLUSTER},
            },
            "spec": body | examples,
        },
    }


def _example(body: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """The least that a document says by itself, from the examples of its keys."""
    first = body.get("oneOf", [{"required": []}])[0]
    needed = [*required, *first["required"]]
    properties = body["properties"]
    return {key: properties[key]["examples"][0] for key in needed}


def schema_text(kind: str) -> str:
    """The schema of a kind, or of ``ALL``, as it is printed and committed."""
    body = combined() if kind == ALL else schema(kind)
    text = json.dumps(body, indent=2, ensure_ascii=False)
    return text + "\n"
