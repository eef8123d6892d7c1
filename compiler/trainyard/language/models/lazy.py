"""Lazy models: models of the spec that are imported and built when a spec has their key.

Most specs use a third of the language, and pydantic takes half a millisecond to build a class
(``benchmarks/README.md``). The models of keys that few specs have are in the ``forms`` folder of their room; the room's
``spec`` names them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, ClassVar

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from trainyard.language.models.base import SpecModel


class LazyModel:
    """A model of another module, which is imported when the first value is validated."""

    module: ClassVar[str]

    @classmethod
    def model(cls) -> type[SpecModel]:
        """The model itself."""
        module = import_module(cls.module)
        model: type[SpecModel] = getattr(module, cls.__name__)
        return model

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Values are validated by the model. The places of its faults are kept: pydantic adds those above them."""
        return core_schema.no_info_plain_validator_function(cls.validate)

    @classmethod
    def validate(cls, value: Any) -> SpecModel:
        """A value of the spec as the model has it; pydantic's errors where it is not of its shape."""
        return cls.model().model_validate(value)


@cache
def lazy_models(module: str, *names: str) -> tuple[type[LazyModel], ...]:
    """Lazy models of a module below ``trainyard``, by the names of the models."""
    path = f"trainyard.{module}"
    return tuple(type(name, (LazyModel,), {"module": path}) for name in names)


def model_of(kind: Any) -> type[BaseModel] | None:
    """The model that a type is, or that it imports lazily; ``None`` for any other type."""
    if not isinstance(kind, type):
        return None
    if issubclass(kind, LazyModel):
        return kind.model()
    if issubclass(kind, BaseModel):
        return kind
    return None


def lazy_model_behind(check: object) -> type[SpecModel]:
    """The model that a validator function of a schema loads."""
    owner = getattr(check, "__self__", None)
    assert isinstance(owner, type)
    assert issubclass(owner, LazyModel)
    return owner.model()
