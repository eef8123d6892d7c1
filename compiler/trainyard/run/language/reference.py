"""Describes the keys of the language: for ``trainyard explain --spec`` and the tables of ``docs/spec.md``."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.models import aws
from trainyard.language.models import types as spec_types
from trainyard.language.models.field import Bound, bound_of
from trainyard.language.models.flow import flow
from trainyard.language.models.models import holds, inner_model, model_of
from trainyard.language.models.types import Distinct
from trainyard.language.units import Duration
from trainyard.run.language.whole import every_language


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the spec. ``path`` has ``[]`` behind each list of mappings that it goes through, and ``NAME`` for each
    name of a mapping whose names are free."""

    path: str
    name: str
    field: FieldInfo
    declared: Any
    """The type that the field was declared with, with its checks."""

    @property
    def model(self) -> type[BaseModel] | None:
        """The model of the mapping here, or of the items of the list."""
        return inner_model(self.field.annotation)

    @property
    def inside(self) -> str:
        """What the paths of the keys inside begin with."""
        if holds(self.field.annotation, list):
            return f"{self.path}[]."
        if holds(self.field.annotation, dict):
            return f"{self.path}.NAME."
        return f"{self.path}."

    @property
    def default(self) -> str:
        """The default value, or `required`, or `derived`; empty where there is none."""
        if self.field.is_required():
            return "required"
        value = self.field.get_default(call_default_factory=True, validated_data={})
        if "derived" in self.description:
            return _default(value) or "derived"
        return _default(value)

    @property
    def limits(self) -> str:
        """The numbers and lengths that the model allows."""
        if self.field.annotation is str:
            unit = "characters"
        else:
            unit = "of them"
        bounds = []
        for constraint in self.field.metadata:
            for name, text in _LIMITS.items():
                value = getattr(constraint, name, None)
                if value is not None:
                    bounds.append(text.format(value, unit))
        return ", ".join(bounds)

    @property
    def description(self) -> str:
        """What it is, in a sentence."""
        return self.field.description or ""

    @property
    def example(self) -> str:
        """A value of it, as YAML on one line."""
        return self.examples[0]

    @property
    def examples(self) -> list[str]:
        """Values of it, one for each of its forms, as YAML on one line."""
        examples = self.field.examples or [None]
        return [flow(value) for value in examples]

    @property
    def together(self) -> str:
        """Which of the keys inside go together; empty where all do."""
        assert self.model is not None
        return _together(self.model)

    @property
    def bound(self) -> Bound | None:
        """What its value may be; a mapping has none, but the keys inside have."""
        return bound_of(self.field)

    @property
    def holders(self) -> list[str]:
        """What refuses another value: its types, `model` (a choice, a number, a length), codes."""
        parts = list(_within(self.declared))
        held = [name for value, name in _NAMED if value in parts]
        is_choice = any(get_origin(part) is Literal or part is bool for part in parts)
        if is_choice or self.limits:
            held.append("model")
        if any(Distinct in getattr(part, "__metadata__", ()) for part in parts):
            held.append("Distinct")
        return [*held, *(self.bound.codes if self.bound else ())]

    def kind(self, name_of: Callable[[type[BaseModel]], str]) -> str:
        """The type in words; ``name_of`` says what a model is called."""
        return _kind(self.declared, name_of)


@cache
def _declared(model: type[BaseModel]) -> dict[str, Any]:
    """The types of a model's fields as they are written: a model is met below each key that has it."""
    return get_type_hints(model, include_extras=True)


def _within(declared: Any) -> Iterator[Any]:
    """A type and all that it is made of."""
    yield declared
    for part in get_args(declared):
        yield from _within(part)


def keys(model: type[BaseModel], above: str = "") -> list[Key]:
    """The keys of one model, in order."""
    declared = _declared(model)
    return [
        Key(f"{above}{field.alias or name}", field.alias or name, field, declared[name])
        for name, field in model.model_fields.items()
    ]


@cache
def all_keys() -> tuple[Key, ...]:
    """Every key of the language, each before the keys inside it."""
    return tuple(_keys_below(every_language()))


def _keys_below(model: type[BaseModel], above: str = "") -> Iterator[Key]:
    for key in keys(model, above):
        yield key
        if key.model is not None:
            yield from _keys_below(key.model, key.inside)


def models() -> list[type[BaseModel]]:
    """Every model, in the order in which a spec mentions them."""
    below = [key.model for key in all_keys()]
    inside = [model for model in below if model is not None]
    return list(dict.fromkeys([every_language(), *inside]))


def _together(model: type[BaseModel]) -> str:
    """What the model's schema says of its keys (``trainyard.language.models.choice``), in words."""
    schema = model.model_config.get("json_schema_extra")
    if not isinstance(schema, dict):
        return ""
    if schema.get("maxProperties") == 1:
        return "exactly one of them"
    if "oneOf" in schema:
        kinds: Any = schema["oneOf"]
        required = [kind["required"][0] for kind in kinds]
        return f"exactly one of {listed(required, ' and ')}"
    if "not" in schema:
        excluded: Any = schema["not"]
        if "anyOf" in excluded:
            pairs = [listed(pair["required"], " and ") for pair in excluded["anyOf"]]
            return f"not together: {'; '.join(pairs)}"
        return f"at most one of {listed(excluded['required'], ' and ')}"
    return ""


def _default(value: Any) -> str:
    if value is None or value in ([], {}, ""):
        return ""
    if isinstance(value, list):
        value = [_written(item) for item in value]
    if isinstance(value, Duration):
        value = _written(value)
    if isinstance(value, BaseModel):
        value = {key: inner for key, inner in _written(value).items() if inner not in ([], {}, "")}
    if value != {}:
        return flow(value)
    return ""


def _written(value: Any) -> Any:
    """A value as a spec has it."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_none=True)
    if isinstance(value, Duration):
        return str(value)
    return value


_LIMITS = {
    "ge": "at least {}",
    "gt": "above {}",
    "le": "at most {}",
    "lt": "below {}",
    "min_length": "at least {} {}",
    "max_length": "at most {} {}",
}
_PLAIN = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true` or `false`",
    type(None): "",
    Any: "anything",
}
_NAMED = [
    (value, name)
    for name, value in {**vars(spec_types), **vars(aws)}.items()
    if get_origin(value) is Annotated
]
_SPOKEN = {
    "Account": "text of 12 digits",
    "AddonName": "add-on",
    "AddonVersion": "build of an add-on",
    "AmiAlias": "AMI alias",
    "Amount": "quantity above 0",
    "Arn": "ARN",
    "Command": "list of text",
    "ComponentVersion": "version",
    "Count": "number above 0",
    "EnvName": "variable name",
    "FilePath": "absolute path",
    "HostName": "node name",
    "HugePages": "size",
    "IncludePath": "relative path",
    "JobAnnotationKey": "annotation key",
    "IpAddress": "IPv4 address",
    "JsonPointer": "JSON pointer",
    "KubernetesVersion": "Kubernetes version",
    "LustreVersion": "Lustre version",
    "MountName": "MountName",
    "Path": "absolute path",
    "Period": "duration above 0",
    "PublicCidr": "IPv4 block",
    "RepositoryUrl": "URL",
    "RootSize": "size",
    "TorchVersion": "PyTorch version",
    "VpcCidr": "IPv4 block",
    "VpcId": "VPC id",
    "Word": "text",
}
"""What types are called where the words of their own names would say less."""


def _kind(declared: Any, name_of: Callable[[type[BaseModel]], str]) -> str:
    """A type in words: the spec's own types by name, lists and mappings by what they hold."""
    named = next((name for value, name in _NAMED if value == declared), None)
    if named is not None:
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", named)
        return _SPOKEN.get(named) or words.lower()
    origin = get_origin(declared)
    arguments = get_args(declared)
    if origin is Annotated:
        return _kind(_as_written(arguments), name_of)
    if origin is Literal:
        return ", ".join(f"`{argument}`" for argument in arguments)
    inside = [_kind(argument, name_of) for argument in arguments]
    if origin in (Union, types.UnionType):
        return " or ".join(filter(None, dict.fromkeys(inside)))
    if origin is list:
        items = inside[0]
        if items == "mapping":
            items = "mappings"
        return f"list of {items}"
    if origin is dict:
        return f"mapping of {inside[0]} to {inside[1]}"
    model = model_of(declared)
    if model is not None:
        if model.model_fields:
            return name_of(model)
        return "`{}`"
    return _PLAIN[declared]


def _as_written(arguments: tuple[Any, ...]) -> Any:
    """The type of what people write, where a check makes something else of it: a word or a number for a mapping."""
    declared, *checks = arguments
    for check in checks:
        if isinstance(check, BeforeValidator) and (
            check.json_schema_input_type is not PydanticUndefined
        ):
            return check.json_schema_input_type
    return declared
