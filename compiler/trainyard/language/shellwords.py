"""The words of shell text, as ``shlex`` has them, in time that grows with the text.

``shlex`` adds to a word character by character, and copies it each time: a word of 500 kB takes it twelve seconds.
"""

from __future__ import annotations

import re
from functools import cache

_BLANKS = " \t\r\n"
_QUOTED = re.compile(
    r"""'(?P<single>[^']*)'|"(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"|\\(?P<escaped>.)""", re.DOTALL
)
_IN_DOUBLE = re.compile(r'\\(["\\])')


@cache
def _plain(operators: str, comments: bool) -> re.Pattern[str]:
    """What stands in a word as it is."""
    others = re.escape(f"{_BLANKS}'\"\\{operators}{'#' if comments else ''}")
    return re.compile(f"[^{others}]+")


def split(text: str, operators: str = "", *, comments: bool = False) -> list[str]:
    """The words; those of ``operators`` alone are words of their own. A ``ValueError`` where a quote is not closed.
    ``comments``: a ``#`` outside of quotes ends its line."""
    plain = _plain(operators, comments)
    words: list[str] = []
    parts: list[str] | None = None
    position = 0
    while position < len(text):
        char = text[position]
        if char in _BLANKS or char in operators or (comments and char == "#"):
            if parts is not None:
                words.append("".join(parts))
                parts = None
            start = position
            if char == "#":
                position = text.find("\n", position)
                if position < 0:
                    break
            position += 1
            while char in operators and position < len(text) and text[position] in operators:
                position += 1
            if char in operators:
                words.append(text[start:position])
            continue
        found = plain.match(text, position) or _QUOTED.match(text, position)
        if found is None:
            raise ValueError("No escaped character" if char == "\\" else "No closing quotation")
        if parts is None:
            parts = []
        parts.append(_meant(found))
        position = found.end()
    if parts is not None:
        words.append("".join(parts))
    return words


def _meant(found: re.Match[str]) -> str:
    """What a piece of a word stands for."""
    if found.re is not _QUOTED:
        return found[0]
    if found["single"] is not None:
        return found["single"]
    if found["double"] is not None:
        return _IN_DOUBLE.sub(r"\1", found["double"])
    return found["escaped"]
