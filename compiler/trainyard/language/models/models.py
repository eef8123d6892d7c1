"""The models of a spec by their routes and keys."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from trainyard.language.places import Route


def model_of(kind: Any) -> type[BaseModel] | None:
    """The model that a type is; ``None`` for any other type."""
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def model_at(model: type[BaseModel], at: Route) -> type[BaseModel] | None:
    """The model at a route; ``None`` where there is none (a free mapping)."""
    inner: type[BaseModel] | None = model
    named = False  # whether a name of a free mapping comes next
    for key in at:
        if isinstance(key, int):
            continue
        if named:
            named = False
            continue
        if inner is None:
            return None
        field = fields_of(inner).get(key)
        if field is not None:
            inner = inner_model(field.annotation)
        else:
            inner = None
        named = field is not None and holds(field.annotation, dict)
    return inner


def holds(annotation: Any, kind: type) -> bool:
    """Whether a type is a ``list`` or a ``dict``, or may be one."""
    if get_origin(annotation) is kind:
        return True
    members = get_args(annotation)
    return any(get_origin(member) is kind for member in members)


def inner_model(annotation: Any) -> type[BaseModel] | None:
    """The model inside the type of a field; ``None`` where there is none."""
    model = model_of(annotation)
    if model is not None:
        return model
    for member in get_args(annotation):
        inner = inner_model(member)
        if inner is not None:
            return inner
    return None


def keys_of(model: type[BaseModel]) -> list[str]:
    """The YAML keys of a model, in order."""
    return list(fields_of(model))


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by their YAML keys, in order."""
    fields = model.model_fields.items()
    return {field.alias or name: field for name, field in fields}


def field_at(model: type[BaseModel], at: Route) -> FieldInfo | None:
    """The field of a model at a route."""
    if at:
        owner = model_at(model, at.parent)
    else:
        owner = None
    if owner is None:
        return None
    return fields_of(owner).get(str(at[-1]))
