"""Regular expressions as Go reads them (RE2, Go's ``regexp/syntax``), in Python's ``re``."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

_LITERAL = r"(?s)\\Q(.*?)(?:\\E|\Z)"
_FLAGS = r"\(\?([imsU]*)(?:-[imsU]+)?\)"
_ESCAPED = r"(?s)\\."
_CLASS = r"\[\^?\]?[^]]*\]"
# What Go has and Python has not, or writes otherwise: how it begins, its form, and what comes near it.
_ONLY_GO = (
    (("\\p", "\\P"), r"\\[pP](?!C)(?:\{\^?\w+\}|\w)", r"\\w"),
    (("\\x{", "\\C"), r"\\x\{[0-9A-Fa-f]+\}|\\C", "."),
    (("(?<",), r"\(\?<(?=[A-Za-z_])", "(?P<"),
    (("(?",), r"\(\?[imsU]*(?:-[imsU]+)?:", "(?:"),
)
_GROUPS_OF_OTHERS = {
    r"\(\?<?[=!]": "look-around",
    r"\(\?>": "an atomic group",
    r"\(\?\(": "a condition",
    r"\(\?#": "a comment",
    r"\(\?P[=>]": "a back-reference",
}
_POSSESSIVE = r"(?:[*+?]|\{\d+(?:,\d*)?\})\+"
_BACK_REFERENCE = r"(?s)\\(?:([1-9])(?![0-7])|.)"
_VALUES = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "U": re.NOFLAG}
_NOT_OTHER = (
    r"[^\x00-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f"
    r"\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_OPENED = re.compile(r"\[\^?\]?")
_NAMED = re.compile(r"\[:(\w+):\]")
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r ",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
"""What names of classes mean within brackets (Go, regexp/syntax)."""
_PAIRS = {"\\z": r"\Z", "\\PC": _NOT_OTHER}


@lru_cache(maxsize=1024)
def compile_re2(pattern: str) -> re.Pattern[str]:
    """The compiled form of an RE2 pattern; ``re.error`` if it cannot be expressed in ``re``.

    Some differences matter in upstream schemas: ``$`` and ``\\z`` are the end of the text (Python's ``$`` also stands
    before a last newline), flags may stand anywhere (Python allows them only at the start),
    classes such as ``\\d`` are ASCII, and classes have names, like ``[[:alpha:]]``.
    """
    text = _without_literals(pattern)
    flags = re.ASCII
    if "(?" in text:
        for group in re.finditer(_FLAGS, text):
            for letter in group[1]:
                flags |= _VALUES[letter]
        text = re.sub(_FLAGS, "", text)
    for beginnings, form, same in _ONLY_GO:
        if any(beginning in text for beginning in beginnings):
            text = re.sub(form, same, text)
    with warnings.catch_warnings(action="ignore"):
        # Of a bracket within brackets, which Python will read otherwise one day.
        multiline = bool(flags & re.MULTILINE)
        return re.compile(_ends(text, multiline=multiline), flags)


def _without_literals(pattern: str) -> str:
    """The pattern with what stands between ``\\Q`` and ``\\E`` escaped."""
    if "\\Q" not in pattern:
        return pattern
    return re.sub(_LITERAL, lambda literal: re.escape(literal[1]), pattern)


def _ends(pattern: str, *, multiline: bool) -> str:
    """With Python's word for the end of a text, outside of classes, and what named classes have within them."""
    out: list[str] = []
    index, inside = 0, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            is_other = pattern.startswith("PC", index + 1)
            length = 3 if is_other else 2
            pair = pattern[index : index + length]
            out.append(_PAIRS.get(pair, pair))
            index += len(pair)
            continue
        named = _NAMED.match(pattern, index) if inside else None
        if named is not None:
            if named[1] not in _CLASSES:
                raise re.error(f"no class of characters is called `{named[1]}`")
            out.append(_CLASSES[named[1]])
            index = named.end()
            continue
        opened = None if inside else _OPENED.match(pattern, index)
        if opened is not None:
            inside = True
            out.append(opened[0].replace("]", r"\]"))  # a first `]` is a member
            index = opened.end()
            continue
        if char == "]":
            inside = False
        end = char == "$" and not inside and not multiline
        out.append(r"\Z" if end else char)
        index += 1
    return "".join(out)


def refusal(pattern: str) -> str:
    """Why Go does not compile a pattern; empty where it does, or where that is not certain."""
    text = _without_literals(pattern)
    if any(re.findall(_BACK_REFERENCE, text)):
        return "a back-reference"
    unescaped = re.sub(_ESCAPED, "x", text)
    bare = re.sub(_CLASS, "x", unescaped)
    if "(?" in bare:
        for form, name in _GROUPS_OF_OTHERS.items():
            if re.search(form, bare):
                return name
    if re.search(_POSSESSIVE, bare):
        return "a possessive repetition"
    try:
        compile_re2(pattern)
    except re.error as problem:
        return str(problem)
    return ""
