"""pydantic's errors in our words: one code, one fact, one help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from trainyard.language.diagnostics.diagnostic import Diagnostic, error, listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.diagnostics.words import kind_of
from trainyard.language.models.flow import flow
from trainyard.language.models.foreign import value_help, variable_help
from trainyard.language.models.models import field_at, fields_of, inner_model, model_at
from trainyard.language.models.renamed import renamed
from trainyard.language.models.unknown import (
    Instead,
    called_now,
    meant_elsewhere,
    section_of,
    unknown,
)
from trainyard.language.places import Document, Route, ScalarNode

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "`true` or `false`",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "mapping_type": "a mapping",
}
_BOUND = {
    "greater_than": ("not above {gt}", "a number above {gt}"),
    "greater_than_equal": ("below the minimum of {ge}", "{ge} or more"),
    "less_than": ("not below {lt}", "a number below {lt}"),
    "less_than_equal": ("above the maximum of {le}", "{le} or less"),
    "too_short": ("below the minimum of {min_length}", "at least {min_length}"),
    "too_long": ("above the maximum of {max_length}", "at most {max_length}"),
    "string_too_short": ("below the minimum of {min_length}", "at least {min_length}"),
    "string_too_long": ("above the maximum of {max_length}", "at most {max_length}"),
}
_LONGEST_LIST = 60


def explain_all(
    details: Sequence[ErrorDetails], model: type[BaseModel], document: Document, instead: Instead
) -> list[Diagnostic]:
    """Every fault of a document once: a key that is only misspelt is unknown, and not missing too. ``instead``: what to
    write for a key that the platform does not take, by its path below ``spec``, so that no help names it."""
    data = document.root.to_python()
    faults = []
    for detail in details:
        fault = explain(detail, model, data, instead)
        faults.append(_as_written(fault, document))
    misspelt = set()
    for fault in faults:
        if fault.code != "SPC002" or fault.at is None:
            continue
        outer = fault.at.parent
        misspelt.add((outer, fault.help))
        misspelt.add((outer, _meant(called_now(fault.at))))
        misspelt.add((outer, _meant(meant_elsewhere(fault.at))))
    reported = []
    for fault, detail in zip(faults, details, strict=True):
        if fault.code == "SPC001":
            missing = str(detail["loc"][-1])
            if (fault.at, _meant(missing)) in misspelt:
                continue
        reported.append(fault)
    return reported


def _as_written(item: Diagnostic, document: Document) -> Diagnostic:
    """Numbers as the file has them: `1.30` or `0x1F` in a spec does not mean 1.3 or 31."""
    at = item.at or Route()
    node, depth = document.node(at)
    if depth < len(at) or not isinstance(node, ScalarNode):
        return item
    if type(node.value) not in (int, float):
        return item
    value = str(node.value)
    text = node.text
    return replace(
        item,
        message=item.message.replace(f"`{value}`", f"`{text}`"),
        help=item.help.replace(f'`"{value}"`', f'`"{text}"`'),
    )


def _meant(key: str) -> str:
    return f"did you mean `{key}`?"


def explain(
    details: ErrorDetails, model: type[BaseModel], data: Any, instead: Instead
) -> Diagnostic:
    """The diagnostic of one pydantic error in ``data``, which was validated as ``model``."""
    at = _route(details["loc"], data)
    of_key = "[key]" in details["loc"]
    kind = details["type"]
    context = details.get("ctx") or {}
    value = _lookup(data, at)
    if kind == "missing":
        return error(
            "SPC001", f"`{at[-1]}` is missing", at.parent, help=_missing_help(model, at), key=True
        )
    if kind == "extra_forbidden":
        return unknown(at, model, _lookup(data, at.parent), instead)
    if kind == "spec_value":
        if context["key"]:
            at = at / str(context["key"])
        source = context["source"]
        help = _foreign_help(at, value) or str(context["help"])
        notes = (f"source: {source}",) if source else ()
        found = error("SPC005", str(context["fact"]), at, help=help, key=of_key, notes=notes)
        return replace(found, secret=bool(context["secret"]))
    if kind in _WANTED:
        field = field_at(model, at)
        required = field is not None and field.is_required()
        help = _type_help(kind, value, model_at(model, at), required=required)
        if isinstance(value, Mapping):
            help = _split_help(at, value) or help
        help = _foreign_help(at, value) or help
        wanted = _WANTED[kind]
        name = _name(at)
        message = f"{name} is {kind_of(value)}, not {wanted}"
        return error("SPC003", message, at, help=help)
    if kind == "literal_error":
        return _choice(at, value, str(context["expected"]))
    if kind in _BOUND:
        fact, help = _BOUND[kind]
        fact = fact.format(**context)
        help = help.format(**context)
        message = f"{_name(at)} {_shown(value)}, {fact}"
        return error("SPC004", message, at, help=f"write {help}")
    return error(
        "SPC005",
        f"{_name(at)}: {details['msg'].lower()}",
        at,
        help="see `trainyard schema` for the form of this field",
    )


def _route(location: tuple[int | str, ...], data: Any) -> Route:
    """The place of an error in the data: without what pydantic names the members of a union, and the keys of maps."""
    keys: list[int | str] = []
    for key in location[:-1]:
        if isinstance(data, Mapping) and key == 0:
            keys.append(key)  # a list of one, written as its item
        elif isinstance(key, int) or key in data:
            keys.append(key)
            data = data[key]
    last = location[-1:]
    if last != ("[key]",):
        keys += last
    return Route(tuple(keys))


def _name(at: Route) -> str:
    """What a person calls the value at a route."""
    if not at:
        return "the document"
    if isinstance(at[-1], int):
        *_, owner = (key for key in at if isinstance(key, str))
        number = at[-1] + 1
        return f"item {number} of `{owner}`"
    return f"`{at[-1]}`"


def _lookup(data: Any, at: Route) -> Any:
    for key in at:
        if key == 0 and isinstance(data, Mapping):
            continue  # a list of one, written as its item
        if isinstance(key, int):
            data = data[key]
        else:
            data = data.get(key)
    return data


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"has {len(value)} characters"
    if isinstance(value, list | dict):
        return f"has {len(value)} items"  # one is never too few or too many
    return f"is {value}"


def _missing_help(model: type[BaseModel], at: Route) -> str:
    field = field_at(model, at)
    add = f"add `{at[-1]}:`"
    assert field is not None
    inner = inner_model(field.annotation)
    if inner is not None:
        shape = _shape_help(_kind(field.annotation), None, inner)
        return f"{add}, {shape.removeprefix('write ')}"
    assert field.description
    assert field.examples
    example = flow(field.examples[0])
    add += f", like `{example}`"
    words = field.description.rstrip(".")
    first = words[0].lower()
    return f"{add}: {first}{words[1:]}"


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is list:
        return "list_type"
    return "model_type"


def _foreign_help(at: Route, value: Any) -> str:
    """How a value in the form of another tool is written; empty for any other."""
    section = section_of(at.parent) if at else None
    if not section:
        return ""
    *_, last = section.split(".")
    if last == "env":
        return variable_help(str(at[-1]), value)
    return value_help(section, str(at[-1]), value)


def _split_help(at: Route, value: Mapping[str, Any]) -> str:
    """How a mapping is written whose entries became keys of their own; empty where it had none such."""
    section = section_of(at.parent)
    assert section is not None
    names = {key: renamed(section, f"{at[-1]}.{key}") for key in value}
    now = [f"{name}: {flow(value[key])}" for key, name in names.items() if name]
    return f"write {listed(now)}: `trainyard fmt --fix` does it" if now else ""


def _type_help(kind: str, value: Any, owner: type[BaseModel] | None, *, required: bool) -> str:
    if value is None and not required:
        return f"write {_WANTED[kind]}, or remove the key"
    if value is False and not required and kind == "model_type":
        return f"remove the key, or {_shape_help(kind, value, owner)}"
    if kind in ("list_type", "dict_type", "model_type"):
        return _shape_help(kind, value, owner)
    is_scalar = isinstance(value, bool | int | float)
    if kind == "string_type" and is_scalar:
        text = str(value)
        if isinstance(value, bool):
            text = text.lower()
        return f'quote it: `"{text}"`'
    if kind in ("int_type", "int_from_float"):
        is_digits = isinstance(value, str) and value.strip().isdecimal()
        if is_digits:
            return f"write `{int(value)}` without quotes"
        if isinstance(value, float) and value.is_integer():
            return f"write `{int(value)}`"
    return f"write {_WANTED[kind]}"


def _shape_help(kind: str, value: Any, owner: type[BaseModel] | None) -> str:
    """What to write where a list or a mapping is wanted; ``owner`` is the model of the mapping or of the items."""
    if owner is not None:
        return _model_help(kind, value, owner)
    if kind == "list_type":
        items = _meant_items(value)
        words = flow(items)
        if items and len(words) < _LONGEST_LIST:
            return f"write a list: `{words}`"
        return "write a list, each item after `- `"
    if kind == "dict_type":
        return "write a mapping, each entry as `key: value`"
    return f"write {_WANTED[kind]}"


def _meant_items(value: Any) -> list[Any]:
    """The items that a number, or a text with commas or of words, may have meant; none of anything else."""
    if type(value) is int:
        return [value]
    if not isinstance(value, str):
        return []
    parts = [part.strip() for part in value.split(",")]
    if len(parts) > 1 and not any(" " in part for part in parts):
        return [part for part in parts if part]
    import shlex  # only this error needs it

    try:
        return shlex.split(value)
    except ValueError:
        return value.split()


def _model_help(kind: str, value: Any, owner: type[BaseModel]) -> str:
    fields = fields_of(owner)
    if not fields:
        return "write `{}`: it has no keys"
    item = _meant_item(value, owner)
    if item:
        if kind == "model_type":
            return f"write `{item}`"
        return f"write a list: `[{item}]`"
    keys = listed(_required(owner) or list(fields)[:4])
    shape = "mapping" if kind == "model_type" else "list, each item"
    return f"write a {shape} with {keys}"


def _meant_item(value: Any, owner: type[BaseModel]) -> str:
    """The mapping that a scalar may have meant: with the key that it names, or with the only one that is required, or
    `true` where none is; empty if none of these."""
    required = _required(owner)
    if isinstance(value, str) and not required:
        named = re.sub(r"[-_ ]", "", value).lower()
        for key, field in fields_of(owner).items():
            if key.lower() == named:
                inner = inner_model(field.annotation)
                is_enough = inner is not None and not _required(inner)
                return f"{{{key}: {{}}}}" if is_enough else f"{{{key}: …}}"
    if value is True and not required:
        return "{}"
    if isinstance(value, str | int | float) and len(required) == 1:
        return flow({required[0]: value})
    return ""


def _required(owner: type[BaseModel]) -> list[str]:
    return [key for key, field in fields_of(owner).items() if field.is_required()]


def _choice(at: Route, value: Any, expected: str) -> Diagnostic:
    words = expected.replace(" or ", ", ").split(", ")
    choices = [word.strip("' ") for word in words]
    wanted = listed(choices)
    if len(choices) > 1:
        wanted = f"one of {wanted}"
    question = name_meant(str(value), choices)
    help = question or f"write {wanted}"
    shown = kind_of(value)
    if isinstance(value, str):
        shown = f"`{value}`"
    return error("SPC004", f"{_name(at)} is {shown}, not {wanted}", at, help=help)
