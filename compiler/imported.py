"""Names of classes and functions, as ``module:name``: what they name is imported when it is needed."""

from __future__ import annotations

from importlib import import_module
from types import FunctionType
from typing import Any


def name_of(thing: type | FunctionType) -> str:
    """The name of a class or a function that stands at the top of its module."""
    return f"{thing.__module__}:{thing.__qualname__}"


def imported(name: str) -> Any:
    """What a name names. Raises what the import raises, ``AttributeError`` where the module has no such name."""
    module, _, inside = name.partition(":")
    return getattr(import_module(module), inside)
