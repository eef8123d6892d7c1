"""Models of the spec that are made when a spec has their key: most specs use a third of the language.

A class of pydantic costs half a millisecond to make and to complete (``benchmarks/README.md``). The models of keys that
few specs have stand in the ``forms`` folder of their subject, and the subject's ``spec`` names them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, ClassVar

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from compiler.spec.base import SpecModel


class Later:
    """Stands for a model of another module, which is imported for the first value."""

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
def later(module: str, *names: str) -> tuple[type[Later], ...]:
    """What stands for models of a module below ``compiler``, by their names."""
    path = f"compiler.{module}"
    return tuple(type(name, (Later,), {"module": path}) for name in names)


def model_of(kind: Any) -> type[BaseModel] | None:
    """The model that a type is or stands for; ``None`` where it is neither."""
    if not isinstance(kind, type):
        return None
    if issubclass(kind, Later):
        return kind.model()
    if issubclass(kind, BaseModel):
        return kind
    return None


def stood_for(check: object) -> type[SpecModel] | None:
    """The model that a function of a schema validates for, where it is that of a ``Later``."""
    owner = getattr(check, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, Later):
        return owner.model()
    return None
