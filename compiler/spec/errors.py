"""pydantic's refusals in our words: one code, one fact, one help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from compiler.diagnostics.diagnostic import Diagnostic, error, listed
from compiler.diagnostics.near import meant
from compiler.diagnostics.words import kind_of
from compiler.source import Document, Route, ScalarNode
from compiler.spec.flow import flow

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


def explain_all(
    details: Sequence[ErrorDetails], model: type[BaseModel], document: Document
) -> list[Diagnostic]:
    """Every fault of a document once: a key that is only misspelt is unknown, and not missing too."""
    data = document.root.to_python()
    found = [_as_written(explain(each, model, data), document) for each in details]
    meant = {
        (each.at.parent, each.help)
        for each in found
        if each.code == "SPC002" and each.at is not None
    }
    return [
        each
        for each, detail in zip(found, details, strict=True)
        if each.code != "SPC001"
        or (each.at, _meant(str(detail["loc"][-1]))) not in meant
    ]


def _as_written(item: Diagnostic, document: Document) -> Diagnostic:
    """Numbers as the file has them: whoever wrote `1.30` or `0x1F` did not mean 1.3 or 31."""
    node, depth = document.node(item.at or Route())
    if (
        not isinstance(node, ScalarNode)
        or type(node.value) not in (int, float)
        or depth < len(item.at or ())
    ):
        return item
    value, text = str(node.value), node.text
    return replace(
        item,
        message=item.message.replace(f"`{value}`", f"`{text}`"),
        help=item.help.replace(f'`"{value}"`', f'`"{text}"`'),
    )


def _meant(key: str) -> str:
    return f"did you mean `{key}`?"


def explain(details: ErrorDetails, model: type[BaseModel], data: Any) -> Diagnostic:
    """The diagnostic of one pydantic error in ``data``, which was validated as ``model``."""
    at, of_key = _route(details["loc"], data), "[key]" in details["loc"]
    kind, context = details["type"], details.get("ctx") or {}
    value = _lookup(data, at)
    if kind == "missing":
        return error(
            "SPC001",
            f"`{at[-1]}` is missing",
            at.parent,
            help=_missing_help(model, at),
            key=True,
        )
    if kind == "extra_forbidden":
        return _unknown(at, model)
    if kind == "spec_value":
        at = at / str(context["key"]) if context["key"] else at
        notes = (f"source: {context['source']}",) if context["source"] else ()
        return error(
            "SPC005",
            str(context["fact"]),
            at,
            help=str(context["help"]),
            key=of_key,
            notes=notes,
        )
    if kind in _WANTED:
        field = _field(model, at)
        help = _type_help(
            kind,
            value,
            model_at(model, at),
            required=field is not None and field.is_required(),
        )
        return error(
            "SPC003",
            f"{_name(at)} is {kind_of(value)}, not {_WANTED[kind]}",
            at,
            help=help,
        )
    if kind == "literal_error":
        return _choice(at, value, str(context["expected"]))
    if kind in _BOUND:
        fact, help = (each.format(**context) for each in _BOUND[kind])
        return error(
            "SPC004", f"{_name(at)} {_shown(value)}, {fact}", at, help=f"write {help}"
        )
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
        elif isinstance(data, Mapping) and key in data:
            keys.append(key)
            data = data[key]
        elif isinstance(data, Sequence) and isinstance(key, int):
            keys.append(key)
            data = data[key] if key < len(data) else None
        elif data is None:
            keys.append(key)
    last = location[-1:]
    return Route((*keys, *(key for key in last if key != "[key]")))


def _name(at: Route) -> str:
    """What a person calls the value at a route."""
    if not at:
        return "the document"
    if isinstance(at[-1], int):
        owner = next((key for key in reversed(at) if isinstance(key, str)), "the list")
        return f"item {at[-1] + 1} of `{owner}`"
    return f"`{at[-1]}`"


def _lookup(data: Any, at: Route) -> Any:
    for key in at:
        if key == 0 and isinstance(data, Mapping):
            continue  # a list of one, written as its item
        if isinstance(key, int) and isinstance(data, Sequence) and key < len(data):
            data = data[key]
        else:
            data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"has {len(value)} characters"
    if isinstance(value, list | dict):
        return f"has {len(value)} {'item' if len(value) == 1 else 'items'}"
    return f"is {value}"


def model_at(model: type[BaseModel], at: Route) -> type[BaseModel] | None:
    """The model that stands at a route; ``None`` where no model does (a free mapping)."""
    found: type[BaseModel] | None = model
    named = False  # whether a name of a free mapping comes next
    for key in at:
        if isinstance(key, int):
            continue
        if named:
            named = False
            continue
        if found is None:
            return None
        field = next(
            (
                each
                for name, each in found.model_fields.items()
                if (each.alias or name) == key
            ),
            None,
        )
        found = inner_model(field.annotation) if field is not None else None
        named = field is not None and holds(field.annotation, dict)
    return found


def holds(annotation: Any, kind: type) -> bool:
    """Whether a type is a ``list`` or a ``dict``, or may be one."""
    if get_origin(annotation) is kind:
        return True
    return any(get_origin(member) is kind for member in get_args(annotation))


def inner_model(annotation: Any) -> type[BaseModel] | None:
    """The model inside the type of a field; ``None`` where there is none."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (
            found
            for each in get_args(annotation)
            if (found := inner_model(each)) is not None
        ),
        None,
    )


def keys_of(model: type[BaseModel]) -> list[str]:
    """The YAML keys of a model, in order."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _field(model: type[BaseModel], at: Route) -> FieldInfo | None:
    """The field of a model that stands at a route."""
    owner = model_at(model, at.parent) if at else None
    fields = owner.model_fields.items() if owner is not None else ()
    return next((each for name, each in fields if (each.alias or name) == at[-1]), None)


def _missing_help(model: type[BaseModel], at: Route) -> str:
    field = _field(model, at)
    if field is not None and (inner := inner_model(field.annotation)) is not None:
        return f"add `{at[-1]}:`, {_shape_help(_kind(field.annotation), None, inner).removeprefix('write ')}"
    if field is None or not field.description:
        return f"add `{at[-1]}:`"
    words = field.description.rstrip(".")
    like = f", like `{flow(field.examples[0])}`" if field.examples else ""
    return f"add `{at[-1]}:`{like}: {words[0].lower()}{words[1:]}"


def _kind(annotation: Any) -> str:
    return "list_type" if get_origin(annotation) is list else "model_type"


def _unknown(at: Route, model: type[BaseModel]) -> Diagnostic:
    owner = model_at(model, at.parent)
    known = keys_of(owner) if owner is not None else []
    where = (
        f"`{at.parent[-1]}`"
        if at.parent and isinstance(at.parent[-1], str)
        else "this mapping"
    )
    help = meant(str(at[-1]), known) or f"{where} has: {listed(known)}"
    if at.parent == ("metadata",) and at[-1] in ("namespace", "labels", "annotations"):
        help = "remove it: the objects of a cluster take theirs from `spec`"
    if (outer := _one_too_high(owner, str(at[-1]))) is not None:
        help = f"write it under `{outer}`"
    return error("SPC002", f"unknown key `{at[-1]}`", at, help=help, key=True)


def _one_too_high(owner: type[BaseModel] | None, key: str) -> str | None:
    """The mapping inside ``owner`` that has the key, where there is just one."""
    fields = owner.model_fields.items() if owner is not None else ()
    found = [
        field.alias or name
        for name, field in fields
        if (inner := inner_model(field.annotation)) is not None
        and key in keys_of(inner)
        and not any(
            get_origin(each) is list
            for each in (field.annotation, *get_args(field.annotation))
        )
    ]
    return found[0] if len(found) == 1 else None


def _type_help(
    kind: str, value: Any, owner: type[BaseModel] | None, *, required: bool
) -> str:
    if value is None and not required:
        return f"write {_WANTED[kind]}, or remove the key"
    if kind in ("list_type", "dict_type", "model_type"):
        return _shape_help(kind, value, owner)
    if kind == "string_type" and isinstance(value, bool | int | float):
        return (
            f'quote it: `"{str(value).lower() if isinstance(value, bool) else value}"`'
        )
    if kind in ("int_type", "int_from_float"):
        if isinstance(value, str) and value.strip().isdigit():
            return f"write `{int(value)}` without quotes"
        if isinstance(value, float) and value.is_integer():
            return f"write `{int(value)}`"
    return f"write {_WANTED[kind]}"


def _shape_help(kind: str, value: Any, owner: type[BaseModel] | None) -> str:
    """What to write where a list or a mapping is wanted; ``owner`` is the model of the mapping or of the items."""
    fields = owner.model_fields.items() if owner is not None else ()
    required = [field.alias or name for name, field in fields if field.is_required()]
    keys = listed(required or (keys_of(owner)[:4] if owner is not None else ()))
    if owner is not None:
        if len(required) == 1 and isinstance(value, str | int | float):
            meant = f"{{{required[0]}: {value}}}"
            return (
                f"write `{meant}`"
                if kind == "model_type"
                else f"write a list: `[{meant}]`"
            )
        return f"write a {'mapping' if kind == 'model_type' else 'list, each item'} with {keys}"
    if kind == "list_type" and isinstance(value, str | int):
        words = ", ".join(str(value).split())
        return (
            f"write a list: `[{words}]`"
            if len(words) < 40
            else "write a list, each item after `- `"
        )
    return (
        "write a mapping, each entry as `key: value`"
        if kind == "dict_type"
        else f"write {_WANTED[kind]}"
    )


def _choice(at: Route, value: Any, expected: str) -> Diagnostic:
    choices = [each.strip("' ") for each in expected.replace(" or ", ", ").split(", ")]
    these = listed(choices)
    help = (
        meant(str(value), choices)
        or f"write {'one of ' if len(choices) > 1 else ''}{these}"
    )
    shown = f"`{value}`" if isinstance(value, str) else kind_of(value)
    wanted = f"{'one of ' if len(choices) > 1 else ''}{these}"
    return error("SPC004", f"{_name(at)} is {shown}, not {wanted}", at, help=help)
