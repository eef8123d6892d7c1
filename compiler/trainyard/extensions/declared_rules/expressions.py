"""CEL expressions that users write: which syntax is allowed, and what evaluation may cost.

CEL has no loops but macros over lists and maps, so that an expression always ends; nested macros over long lists and
regular expressions that backtrack could still take hours. Each expression is bounded before it runs, by its own form
and by the object, as the API server bounds it by its cost (k8s.io/apiserver, pkg/cel/limits.go). Nothing that is
measured counts, so that the same files give the same findings on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from trainyard.language.re2 import first_match
from trainyard.verify.cel import compiled, engine, split

__all__ = ["TooCostlyError", "evaluated", "refusal"]

LONGEST = 4096
"""Characters of an expression."""
DEEPEST = 3
"""Macros inside one another."""
MOST = 100_000_000
"""Steps of an expression on an object, at most."""
_LONGEST_TEXT = 100_000

_MACROS = ("all", "exists", "exists_one", "filter", "map")
_MACRO = re.compile(rf"\.(?:{'|'.join(_MACROS)})\s*\(")
_TEXT = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CORE = frozenset(
    [
        "has",
        "size",
        "type",
        "dyn",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "bool",
        "timestamp",
        "duration",
        "contains",
        "startsWith",
        "endsWith",
        "matches",
        "getFullYear",
        "getMonth",
        "getDate",
        "getHours",
        "getMinutes",
        "getSeconds",
        "in",
    ]
)
_ELSEWHERE = re.compile(
    r"\b(authorizer|params|namespaceObject|oldObject|request\s*\.\s*userInfo)\b"
)


class TooCostlyError(Exception):
    """An expression that would take too many steps on an object."""


def refusal(expression: str) -> str:
    """Why an expression is not taken; empty for one that is."""
    if len(expression) > LONGEST:
        return f"it has {len(expression)} characters, and may have {LONGEST}"
    bare = _TEXT.sub("''", expression)
    unknown = _ELSEWHERE.search(bare)
    if unknown is not None:
        return f"`{unknown[1]}` is known to the API server alone"
    for name in _CALLED.findall(bare):
        if name not in _CORE and name not in _MACROS and name not in _FUNCTIONS:
            return f"the function `{name}` is not known here"
    if _depth(bare) > DEEPEST:
        return f"macros like `all` are nested more than {DEEPEST} deep"
    try:
        compiled(expression)
    except Exception as problem:  # of a class of the parser's own
        first = str(problem).splitlines()[0]
        return f"it is no CEL: {first}"
    return ""


def evaluated(expression: str, variables: Mapping[str, Any], width: int) -> Any:
    """The value of an expression; ``width`` is the length of the longest list or map that it may go through.

    Raises ``TooCostlyError``, or what the engine raises where a value is missing or of another type.
    """
    bare = _TEXT.sub("''", expression)
    wide = max(width, bare.count(",") + 1) * (bare.count("+") + 1)
    depth = max(_depth(bare), 1)
    steps = wide**depth * len(expression)
    if steps > MOST:
        raise TooCostlyError(f"about {steps:.0e} steps, and {MOST:.0e} are the most")
    costs: list[TooCostlyError] = []
    functions = {name: _recorded(function, costs) for name, function in _FUNCTIONS.items()}
    context = engine().Context(functions=functions)
    for name, value in variables.items():
        context.add_variable(name, value)
    try:
        value = compiled(expression).execute(context)
    except Exception:
        if costs:
            raise costs[0] from None
        raise
    if costs:
        raise costs[0]
    if isinstance(value, (str, list)) and len(value) > _LONGEST_TEXT:
        raise TooCostlyError(f"a value of {len(value):,} characters or items")
    return value


def _recorded(function: Callable[..., Any], costs: list[TooCostlyError]) -> Callable[..., Any]:
    """A function that notes that it would be too costly: the engine makes one error of all that are raised."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except TooCostlyError as cost:
            costs.append(cost)
            return ""

    return call


def _depth(bare: str) -> int:
    """The depth of nested macros."""
    deepest, open_macros, position = 0, [], 0
    while position < len(bare):
        found = _MACRO.match(bare, position)
        if found is not None:
            open_macros.append(True)
            position = found.end()
            deepest = max(deepest, sum(open_macros))
            continue
        if bare[position] == "(":
            open_macros.append(False)
        elif bare[position] == ")" and open_macros:
            open_macros.pop()
        position += 1
    return deepest


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    if text.count(old) * len(new) > _LONGEST_TEXT:
        raise TooCostlyError("a text that grows without end")
    return text.replace(old, new, limit)


def _joined(texts: list[str], separator: str = "") -> str:
    return separator.join(texts)


def _substring(text: str, start: int, end: int | None = None) -> str:
    return text[start:end]


# CEL's extension library of strings, and of lists in Kubernetes (k8s.io/apiserver, pkg/cel/library).
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "find": first_match,
    "split": split,
    "replace": _replace,
    "join": _joined,
    "substring": _substring,
    "lowerAscii": str.lower,
    "upperAscii": str.upper,
    "trim": str.strip,
    "indexOf": lambda text, part, start=0: text.find(part, start),
    "sum": lambda items: sum(items),
    "min": lambda items: min(items),
    "max": lambda items: max(items),
}
