"""Go RE2 patterns in Python's ``re``."""

from __future__ import annotations

import re
from functools import lru_cache

_FLAGS = re.compile(r"\(\?([ims]+)\)")
_NOT_OTHER = (
    r"[^\x00-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f"
    r"\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


@lru_cache(maxsize=1024)
def compile_re2(pattern: str) -> re.Pattern[str]:
    """The compiled form of an RE2 pattern; ``re.error`` if it cannot be said in ``re``.

    Three differences matter in upstream schemas: ``$`` and ``\\z`` are the end of the text (Python's ``$`` also stands
    before a last newline), flags may stand anywhere (Python wants them first), and classes such as ``\\d`` are ASCII.
    """
    flags = 0
    for found in _FLAGS.finditer(pattern):
        for letter in found[1]:
            flags |= {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[letter]
    return re.compile(_translate(_FLAGS.sub("", pattern), bool(flags & re.MULTILINE)), flags | re.ASCII)


def _translate(pattern: str, multiline: bool) -> str:
    out: list[str] = []
    index, inside = 0, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            pair = pattern[index : index + 3 if pattern[index + 1 : index + 3] == "PC" else index + 2]
            out.append({"\\z": r"\Z", "\\PC": _NOT_OTHER}.get(pair, pair))
            index += len(pair)
            continue
        if char == "[" and not inside:
            inside = True
            if pattern[index + 1 : index + 2] == "]":  # a first `]` is a member
                out.append("[\\]")
                index += 2
                continue
        elif char == "]":
            inside = False
        out.append(r"\Z" if char == "$" and not inside and not multiline else char)
        index += 1
    return "".join(out)
