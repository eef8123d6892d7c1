"""Regular expressions as Go reads them, by RE2 (google-re2), which has their syntax and takes linear time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import re2

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


class PatternError(Exception):
    """Go does not compile a pattern; the message says why."""


class Pattern(Protocol):
    """A compiled pattern; a match has the text that it found at 0."""

    def search(self, text: str) -> Any:
        """The first match anywhere, or ``None``."""

    def fullmatch(self, text: str) -> Any:
        """The match of the whole text, or ``None``."""


@lru_cache(maxsize=1024)
def compile_re2(pattern: str) -> Pattern:
    """The compiled form of a pattern. Raises ``PatternError``."""
    try:
        compiled: Pattern = re2.compile(pattern, _OPTIONS)
    except re2.error as problem:
        raise PatternError(_said(problem)) from problem
    except UnicodeEncodeError as problem:
        raise PatternError("it is no Unicode text") from problem
    return compiled


def _said(problem: Exception) -> str:
    """RE2's words, which are bytes."""
    said = problem.args[0]
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)


def first_match(text: str, pattern: str) -> str:
    """The first match of a pattern in a text; "" where there is none. Raises ``PatternError``."""
    found = compile_re2(pattern).search(text)
    return found[0] if found else ""


def refusal(pattern: str) -> str:
    """Why Go does not compile a pattern; empty where it does."""
    try:
        compile_re2(pattern)
    except PatternError as problem:
        return str(problem)
    return ""
