"""What stands below ``data`` and ``stringData`` of a Secret, found in the text of a file, which need not parse.

Nothing of it is ever shown: not the line, and not the value in what a diagnostic says, whoever speaks.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from trainyard.language.places import SourceFile

_SECRET = re.compile(r"""(?<![\w.-])["']?kind["']?\s*:\s*["']?Secret["']?\s*(?=[,}\]#\r\n]|\Z)""")
_VALUES = re.compile(r"""(?<![\w.-])["']?(?:data|stringData)["']?\s*:""")
_DOCUMENT = re.compile(r"^---", re.MULTILINE)
_BEFORE = re.compile(r"[\s\-?]*\Z")
_PROPERTIES = re.compile(r"[ \t]*(?:[&!]\S*[ \t]*)*(?:#.*)?\Z")
_KEY = re.compile(r"""(\s*(?:["'][-\w.]+["']|[-\w.]+)\s*:)(?:\s|\Z)""")
_OPENED = re.compile(r"\s*\{")
_WORDS = re.compile(r"""[\s"'{}\[\],]+""")
_QUOTED = re.compile(r"`([^`\n]+)`")
_SHORT = 4
"""From so many characters on a part of a value is hidden too."""


def line_of(file: SourceFile, number: int) -> str:
    """The text of a line as it may be shown."""
    if "Secret" not in file.text:
        return file.line(number)
    return _sealed_file(file.text).line(number)


@lru_cache(16)
def _sealed_file(text: str) -> SourceFile:
    return SourceFile("", sealed(text))


def sealed(text: str) -> str:
    """The text with ``*`` for each character of the values; as long as before, with the same lines."""
    shown = list(text)
    for start, end in _stretches(text):
        for index in range(start, end):
            if shown[index] not in "\r\n":
                shown[index] = "*"
    return "".join(shown)


def hidden(said: str, text: str) -> str:
    """What is said of a file, without the values that it quotes."""
    values = _values(text)
    if not values:
        return said
    return _QUOTED.sub(lambda quoted: "`***`" if _tells(quoted[1], values) else quoted[0], said)


def _tells(quoted: str, values: frozenset[str]) -> bool:
    if quoted in values:
        return True
    return len(quoted) >= _SHORT and any(quoted in value or value in quoted for value in values)


@lru_cache(16)
def _values(text: str) -> frozenset[str]:
    """The values, their lines and words, as they are written and as what they stand for."""
    if "Secret" not in text:
        return frozenset()
    found: set[str] = set()
    for start, end in _stretches(text):
        for line in text[start:end].splitlines():
            whole = line.strip().strip("\"'")
            for value in (whole, *_WORDS.split(whole)):
                if len(value) >= _SHORT:
                    found.update((value, *_in_other_words(value)))
    return frozenset(found)


def _in_other_words(value: str) -> Iterator[str]:
    """A value as `stringData` has it where it is of `data`, and the other way round."""
    yield base64.b64encode(value.encode(errors="replace")).decode()
    value = value.rstrip("=")
    value += "=" * (-len(value) % 4)
    try:
        yield base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where values stand: from and to which character."""
    for first, last in _documents(text):
        if not _SECRET.search(text, first, last):
            continue
        done = first
        for key in _VALUES.finditer(text, first, last):
            if key.start() < done:
                continue
            for start, done in _below(text, key, first, last):
                yield start, done


def _below(text: str, key: re.Match[str], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Where the values of one key stand, in a document from and to which character."""
    line = text.rfind("\n", first, key.start()) + 1 or first
    rest = _line_end(text, key.end(), last)
    opened = _OPENED.match(text, key.end(), last)
    if opened is not None:
        yield opened.end(), _closed(text, opened.end(), last)
        return
    is_alone = _BEFORE.match(text[line : key.start()]) is not None
    if not is_alone or not _PROPERTIES.match(text[key.end() : rest].rstrip("\r")):
        yield key.end(), rest
    if is_alone:
        yield from _block(text, key.start() - line, rest, last)


def _documents(text: str) -> Iterator[tuple[int, int]]:
    starts = [0, *(match.start() for match in _DOCUMENT.finditer(text)), len(text)]
    yield from pairwise(starts)


def _block(text: str, column: int, start: int, last: int) -> Iterator[tuple[int, int]]:
    """The lines below a key that stand further to the right than it; of the first column of keys only what follows."""
    first = None
    while start < last:
        start += 1
        end = _line_end(text, start, last)
        line = text[start:end]
        indent = len(line) - len(line.lstrip(" \t"))
        if line.strip() and indent <= column:
            return
        if first is None and line.strip() and not line.lstrip().startswith("#"):
            first = indent
        key = _KEY.match(line) if indent == first else None
        yield start + (key.end(1) if key is not None else 0), end
        start = end


def _closed(text: str, start: int, last: int) -> int:
    """Where what was opened by a brace is closed, outside of quotes; the end where it is not."""
    depth, quote = 1, ""
    for index in range(start, last):
        char = text[index]
        if quote:
            if char == quote and text[index - 1] != "\\":
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return index
    return last


def _line_end(text: str, start: int, last: int) -> int:
    end = text.find("\n", start, last)
    return last if end < 0 else end
