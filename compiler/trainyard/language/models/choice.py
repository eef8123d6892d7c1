"""Choices of the spec: exactly one of several keys, or a short form of a longer one."""

from __future__ import annotations

from typing import Any, Self

from pydantic import ConfigDict, model_validator
from pydantic.config import JsonDict

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault


def one_of(*keys: str) -> ConfigDict:
    """The configuration of a model with exactly one of some of its keys, for editors."""
    extra: JsonDict = {"oneOf": [{"required": [key]} for key in keys]}
    return ConfigDict(json_schema_extra=extra)


def one_at_most(*keys: str) -> ConfigDict:
    """The configuration of a model in which two keys exclude each other, for editors."""
    extra: JsonDict = {"not": {"required": list(keys)}}
    return ConfigDict(json_schema_extra=extra)


def needed(**keys: str) -> ConfigDict:
    """The configuration of a model in which a key needs another one, for editors."""
    others: JsonDict = {key: [other] for key, other in keys.items()}
    extra: JsonDict = {"dependentRequired": others}
    return ConfigDict(json_schema_extra=extra)


_ONE_KEY: JsonDict = {"minProperties": 1, "maxProperties": 1}


class OneOf(SpecModel):
    """A mapping with exactly one of its keys: the key says which, its value the rest."""

    model_config = ConfigDict(json_schema_extra=_ONE_KEY)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = self.given()
        if len(given) != 1:
            declared = _fields(self)
            keys = [field.alias or name for name, field in declared]
            both = " and ".join([f"`{key}`" for key in given])
            fact = f"both {both} are given" if given else "nothing is given"
            raise fault(fact, f"write exactly one of {listed(keys)}")
        return self

    def given(self) -> list[str]:
        """The keys that are given, as they are written."""
        return [
            field.alias or name for name, field in _fields(self) if getattr(self, name) is not None
        ]

    @property
    def chosen(self) -> str:
        """The one key, as it is written."""
        return self.given()[0]


def _fields(model: SpecModel) -> list[tuple[str, Any]]:
    return list(type(model).model_fields.items())


def as_list(value: Any) -> Any:
    """A list of one may be written as its item."""
    if isinstance(value, dict):
        return [value]
    return value


def existing_or_created(existing: object, create: object, what: str) -> None:
    """Refuse a mapping that has not exactly one of ``existing`` and ``create``."""
    if (existing is None) == (create is None):
        fact = "both `existing` and `create` are given"
        if existing is None:
            fact = "neither `existing` nor `create` is given"
        raise fault(
            fact,
            f"write `existing:` with facts about a {what} that is there, or `create:` for a new one",
        )
