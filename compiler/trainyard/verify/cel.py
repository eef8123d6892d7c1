"""CEL expressions as the API server evaluates them, by the package ``common-expression-language`` (0.10, which is
called ``cel`` when imported).

Of the functions that Kubernetes adds to CEL, upstream rules of our kinds use ``find`` and ``split``; they are given
here.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

from trainyard.language.re2 import first_match


class NotEvaluatedError(Exception):
    """A text that is no CEL, or none that this engine can evaluate: nothing is known of its value."""


def broken(rule: str, value: Any, old: Any = None) -> str | None:
    """Why a rule does not hold for a value, and the value before: what failed while it was evaluated (no such key), as
    it would for the API server, or an empty text where it is false. ``None`` where it holds.

    Raises ``NotEvaluatedError``.
    """
    try:
        program = compiled(rule)
    except Exception as problem:  # of a class of the parser's own
        raise NotEvaluatedError(f"cannot be compiled here: {problem}") from problem
    context = _context()
    context.add_variable("self", value)
    context.add_variable("oldSelf", old)
    try:
        result = program.execute(context)
    except Exception as problem:  # of a class of its own for every kind of failure
        if "Undefined variable or function" in str(problem):
            raise NotEvaluatedError(f"cannot be evaluated here: {problem}") from problem
        return str(problem) or type(problem).__name__
    return None if result is True else ""


@lru_cache(maxsize=1024)
def compiled(expression: str) -> Any:
    """An expression as the engine runs it. Raises what the engine's parser raises."""
    return engine().compile(expression)


@lru_cache(maxsize=1)
def engine() -> Any:
    """The package's engine. The package itself imports a command line for people, which takes eight times as long."""
    import logging

    # The engine logs what a function raises, and raises it as well.
    logging.getLogger("cel").disabled = True
    package = find_spec("cel")
    if package is None:
        raise ModuleNotFoundError("common-expression-language is not installed", name="cel")
    found = PathFinder.find_spec("cel.cel", package.submodule_search_locations)
    if found is None or found.loader is None:
        raise ModuleNotFoundError("common-expression-language has no engine", name="cel.cel")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


@lru_cache(maxsize=1)
def _context() -> Any:
    return engine().Context(functions={"find": first_match, "split": split})


def split(text: str, separator: str, limit: int = -1) -> list[str]:
    """The parts of a text between separators; its letters where the separator is empty. ``limit``: so many parts at
    most, of which the last is the rest; below 0 there is none."""
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if 0 < limit < len(text):
        return [*text[: limit - 1], text[limit - 1 :]]
    return list(text)
