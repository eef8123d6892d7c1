"""Reads values of a template, as far as they are known before it is deployed."""

from __future__ import annotations

from typing import Any

from trainyard.lift.reader import Reader
from trainyard.output.body import walk_mappings
from trainyard.verify.formats.cloudformation.functions import is_call, name_of, text_of

_FLAGS = {"true": True, "false": False}


def text_at(value: Reader) -> str | None:
    return text_of(value.value)


def name_at(value: Reader) -> str | None:
    """A text, or the logical name of what it refers to."""
    return name_of(value.value)


def names_at(values: Reader) -> tuple[str, ...]:
    names = map(name_of, several_at(values.value))
    return tuple(filter(None, names))


def several_at(value: Any) -> list[Any]:
    """The items of a list; a single value counts as a list of one."""
    if isinstance(value, list):
        return value
    if value is None:
        return []
    return [value]


def flag_at(value: Reader) -> bool | None:
    """A boolean, which CloudFormation takes as a text too."""
    if isinstance(value.value, str):
        return _FLAGS.get(value.value.lower())
    return value.flag()


def unread_of(**fields: Reader) -> frozenset[str]:
    """The names of the fields that a function fills in, wholly or in part."""
    unread = []
    for name, field in fields.items():
        is_filled_in = _is_filled_in(field.value)
        if is_filled_in:
            unread.append(name)
    return frozenset(unread)


def _is_filled_in(value: Any) -> bool:
    """Whether a function gives a value, or a part of it."""
    if value is None or isinstance(value, str):
        return False
    inside = walk_mappings(value, stop=is_call)
    parts = (part for _, part in inside)
    filled = (part for part in parts if is_call(part))
    return any(text_of(part) is None for part in filled)
