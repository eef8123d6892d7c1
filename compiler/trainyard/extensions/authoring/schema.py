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


_WIDTH = 100
_HEADER: dict[str, Any] = {"apiVersion": {}, "kind": {}}  # which the schema of all kinds describes


class _Editors(GenerateJsonSchema):
    """With what checks say of themselves (language/models/editor.py), and the form of the keys of a mapping."""

    def get_title_from_name(self, name: str) -> str:
        return name  # heads what an editor shows of a key

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
    _list_kinds(body["$defs"]["Job"]["properties"]["kind"])
    return body


def _list_kinds(key: dict[str, Any]) -> None:
    """The kinds of jobs that a spec may name on some platform, which the core does not know."""
    naming = [each for each in PLATFORMS.values() if each.instead_of("jobs.kind") is None]
    names = [name for platform in naming for name in platform.asked().kinds()]
    key["anyOf"][0] = {"type": "string", "enum": list(dict.fromkeys(names))}


def schema() -> dict[str, Any]:
    """The one schema of the language (JSON Schema 2020-12): a document's ``kind`` says which definition it must fit.

    A definition stands once. What is a part of another (of a base, of a document of its own, ``jobDefaults``) leads to
    the keys of that one, where they are the same.
    """
    cluster = _schema_of(every_language())
    models = cluster.pop("$defs")
    parts = _parts(models)
    own = {
        kind: _document(kind, model.__name__, models[model.__name__])
        for kind, (_, model) in documents().items()
    }
    _let_inherit(models)
    definitions = {
        **models,
        **parts,
        "JobDefaults": _defaults(parts[f"{_PARTIAL}Job"]),
        "TrainingCluster": _cluster(cluster),
        _BASE: _base(),
        **own,
    }
    for spec in ("ClusterSpec", f"{_PARTIAL}ClusterSpec"):
        described = models["ClusterSpec"]["properties"][DEFAULTS]
        definitions[spec]["properties"][DEFAULTS] = {
            "$ref": f"{_DEFINITIONS}JobDefaults",
            "description": described["description"],
            "examples": described["examples"],
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": definitions,
        "title": "Trainyard",
        "description": "A document of a spec, of any kind.",
        "type": "object",
        "required": ["apiVersion", "kind"],
        "properties": {
            "apiVersion": {
                "const": API_VERSION,
                "description": "The version of the spec language.",
                "examples": [API_VERSION],
            },
            "kind": {
                "enum": list(KINDS),
                "description": "What the document is.",
                "examples": [KINDS[0]],
            },
        },
        "allOf": [
            {
                "if": {"required": ["kind"], "properties": {"kind": {"const": kind}}},
                "then": {"$ref": f"{_DEFINITIONS}{kind}"},
            }
            for kind in KINDS
        ],
    }


def _cluster(body: dict[str, Any]) -> dict[str, Any]:
    """With ``extends``, a base may have what is missing."""
    whole = body["properties"].pop("spec")
    part = {**whole, "$ref": f"{_DEFINITIONS}{_PARTIAL}ClusterSpec"}
    body["properties"] |= {**_HEADER, "spec": {}, "extends": _EXTENDS}
    return body | {
        "if": {"required": ["extends"]},
        "then": {"properties": {"spec": part}},
        "else": {"properties": {"spec": whole}},
    }


def _let_inherit(definitions: dict[str, Any]) -> None:
    """What a pool that extends another leaves out is there; of a job, also what ``jobDefaults`` may give. Pools may be
    documents of their own."""
    definitions["ClusterSpec"]["required"].remove("nodePools")
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


def _defaults(part: dict[str, Any]) -> dict[str, Any]:
    """``jobDefaults`` of a spec: any part of a job that another can inherit."""
    keys = part["properties"]
    return {
        **part,
        "title": "JobDefaults",
        "description": "What every job has that does not say it itself.",
        "properties": {key: keys[key] for key in keys if key not in NEVER_INHERITED},
    }


def _base() -> dict[str, Any]:
    """A part of a cluster's spec, at any depth."""
    return {
        "title": _BASE,
        "description": "What several clusters share.",
        "type": "object",
        "additionalProperties": False,
        "anyOf": [{"required": ["spec"]}, {"required": ["extends"]}],
        "properties": {
            **_HEADER,
            "extends": _EXTENDS,
            "metadata": {
                "description": "The name of the base; it may be left out.",
                "examples": [{"name": "shared"}],
                "type": "object",
                "additionalProperties": False,
                "properties": {"name": _NAME},
            },
            "spec": {
                "$ref": f"{_DEFINITIONS}{_PARTIAL}ClusterSpec",
                "description": "Any part of a cluster's spec.",
                "examples": [{"tags": {"cost-center": "research"}}],
            },
        },
    }


# What a part need not have, or has only with the rest.
_OF_THE_WHOLE = frozenset(
    ("minItems", "minProperties", "prefixItems", "oneOf", "not", "dependentRequired")
)


def _parts(models: dict[str, Any]) -> dict[str, Any]:
    """Parts of those models of which a part may have less than the whole: nothing is required, at any depth, and lists
    may be empty."""
    less = {name for name, model in models.items() if _partial(model, {}) != model}
    while leading := {name for name in models.keys() - less if _refs(models[name]) & less}:
        less |= leading
    names = {name: _PARTIAL + name for name in models if name in less}
    return {
        part: _leading(_partial(models[name], names), name, models[name])
        for name, part in names.items()
    }


def _refs(schema: Any) -> set[str]:
    """The names of the definitions that a schema leads to at once."""
    if isinstance(schema, list):
        return set().union(*map(_refs, schema))
    if not isinstance(schema, dict):
        return set()
    names = _refs(list(schema.values()))
    if "$ref" in schema:
        names.add(schema["$ref"].removeprefix(_DEFINITIONS))
    return names


def _partial(schema: Any, names: dict[str, str]) -> Any:
    """The schema of a part of the values, which leads to the parts of the definitions that have some."""
    if isinstance(schema, list):
        return [_partial(item, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    partial = {}
    for key, value in schema.items():
        is_required_list = key == "required" and isinstance(value, list)
        if key not in _OF_THE_WHOLE and not is_required_list:
            partial[key] = _partial(value, names)
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_DEFINITIONS)
        partial["$ref"] = _DEFINITIONS + names.get(name, name)
    return partial


def _leading(part: dict[str, Any], name: str, model: dict[str, Any]) -> dict[str, Any]:
    """A schema whose keys lead to those of a model, where they are the same."""
    same = {
        key: {"$ref": f"{_DEFINITIONS}{name}/properties/{key}"}
        for key, value in model["properties"].items()
        if part["properties"].get(key) == value
    }
    return {**part, "properties": part["properties"] | same}


def _document(kind: str, name: str, model: dict[str, Any]) -> dict[str, Any]:
    """A document of its own: the fields of a list item, without its name, under ``spec``."""
    required = _but_name(model)
    properties = {key: value for key, value in model["properties"].items() if key != "name"}
    spec = _leading({**model, "properties": properties}, name, model)
    del spec["required"]
    if kind == "TrainingNodePool":
        spec |= _unless("extends", {"required": required})
    elif kind != "TrainingJob":  # what a job lacks the cluster's `jobDefaults` may give
        spec["required"] = required
    named = {"$ref": f"{_DEFINITIONS}{name}/properties/name"}
    example = model["properties"]["name"]["examples"][0]
    return {
        "title": kind,
        "type": "object",
        "additionalProperties": False,
        "required": ["metadata", "spec"],
        "properties": {
            **_HEADER,
            "metadata": {
                "description": "The name of it, and the cluster that it belongs to.",
                "examples": [{"name": example}],
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": named, "cluster": _CLUSTER},
            },
            "spec": {**spec, "examples": [_example(model, required)]},
        },
    }


def _example(body: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """The least that a document says by itself, from the examples of its keys."""
    first = body.get("oneOf", [{"required": []}])[0]
    needed = [*required, *first["required"]]
    properties = body["properties"]
    return {key: properties[key]["examples"][0] for key in needed}


def schema_text() -> str:
    """The schema as it is printed and committed: what fits into a line stands in one."""
    return _written(schema(), 0) + "\n"


def _written(value: Any, indent: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or indent + len(line) <= _WIDTH:
        return line
    inside = indent + 2
    if isinstance(value, dict):
        open_, close = "{}"
        items = [f"{json.dumps(key)}: {_written(item, inside)}" for key, item in value.items()]
    else:
        open_, close = "[]"
        items = [_written(item, inside) for item in value]
    lines = ",\n".join(" " * inside + item for item in items)
    return f"{open_}\n{lines}\n{' ' * indent}{close}"
