"""What editors check too: the JSON Schema of a value, by the pattern that its check uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

C = TypeVar("C", bound=Callable[..., Any])
_SHAPES: dict[Callable[..., Any], dict[str, Any]] = {}


def shaped_like(other: object) -> Callable[[C], C]:
    """Describe a check to JSON Schema by another, weaker check."""

    def mark(check: C) -> C:
        _SHAPES[check] = dict(shape_of(other))
        return check

    return mark


def shaped(pattern: str = "", **keywords: Any) -> Callable[[C], C]:
    """Say of a check what JSON Schema can say of it: a pattern of the whole text, other keywords, or both.

    Every value that the check accepts must match; the check may refuse more.
    """

    def mark(check: C) -> C:
        shape = dict(keywords)
        if pattern:
            shape["pattern"] = for_editors(pattern)
        _SHAPES[check] = shape
        return check

    return mark


def shape_of(check: object) -> Mapping[str, Any]:
    """The keywords of a check; none where a schema cannot express it."""
    if callable(check):
        shape = _SHAPES.get(check)
    else:
        shape = None
    return shape or {}


def for_editors(pattern: str) -> str:
    """A pattern of Python for a whole text, as JSON Schema has it: ECMA-262, which finds it anywhere in the text.

    ``\\d`` is a digit of ASCII in both, as `re.ASCII` has it, and stands in no set of characters.
    """
    plain = re.sub(r"\(\?P<\w+>", "(?:", pattern)
    plain = plain.replace(r"\A", "").replace(r"\Z", "$").replace(r"\d", "[0-9]")
    return f"^(?:{plain})$"


def literal(text: str) -> str:
    """A pattern of just this text: ECMA-262 with `u` escapes no more than it must, unlike `re.escape`."""
    return re.sub(r"[\^$\\.*+?()\[\]{}|/]", r"\\\g<0>", text)


def any_case(pattern: str) -> str:
    """A pattern without sets of characters, for small and large letters: ECMA-262 has no flag for it."""
    return re.sub(r"(?<!\\)[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", pattern)
