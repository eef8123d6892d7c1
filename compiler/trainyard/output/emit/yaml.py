"""Block YAML that a YAML 1.1 and a YAML 1.2 reader read as the same object.

No anchors, no wrapped lines, LF only. A string is left plain only if no reader could take it for anything
else; a text of several lines becomes a literal block where that keeps every character, so that scripts
stay readable.
"""

from __future__ import annotations

import json
import marshal
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from trainyard.language.source.scalars import BOOLEANS_1_1, WORDS

_FIRST = ("apiVersion", "kind", "metadata", "spec")
_FIRST_OF_METADATA = ("name", "namespace", "labels", "annotations")

# Plain if it begins with a letter, `/` or `_` and holds nothing that means something to a reader: `: `, ` #`,
# and no indicator that ends a plain scalar (they are only special in flow context, but readers differ).
_CHAR = r"(?:[A-Za-z0-9_./@=+,;()<>~^$\\!?*-]|:(?=[^\s]))"
_PLAIN = re.compile(rf"(?=[A-Za-z/_]){_CHAR}+(?: {_CHAR}+)*\Z")
_WORDS = frozenset(WORDS) | BOOLEANS_1_1
# Digits first are safe only with a unit or dots that no number of either version has: 30m, 10.0.0.0/16, 1.2.3.
_UNIT = re.compile(
    r"[0-9]+(?:\.[0-9]+)?[A-Zac-df-wyz][A-Za-z]*\Z|[0-9]+\.[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)?\Z"
)
# Compiled where a text has what is not printable, and kept by `re`: it takes 2 ms.
_LITERAL = (
    "[\x20-\x7e\n\t\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]+\\Z"
)
_MAX_SIMPLE_KEY = 1000
"""YAML 1.2.2, section 7.4.2: a key without `?` has at most 1024 characters."""
_ESCAPES = "[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"


def dump(body: Mapping[str, Any]) -> str:
    """One object as a YAML document.

    ``apiVersion``, ``kind``, ``metadata`` (name, namespace, labels, annotations first) and ``spec`` lead;
    other keys keep their order. Values are ``dict``, ``list``, ``tuple``, ``str``, ``bool``, ``int``, ``float``
    or ``None``; anything else is a fault of the caller and raises ``TypeError``.
    """
    ordered = _ordered(body, _FIRST)
    metadata = ordered.get("metadata")
    if isinstance(metadata, Mapping):
        ordered["metadata"] = _ordered(metadata, _FIRST_OF_METADATA)
    if not ordered:
        return "{}\n"
    lines: list[str] = []
    _mapping(ordered, "", lines)
    lines.append("")
    return "\n".join(lines)


def encoded(body: Mapping[str, Any], choices: Mapping[str, Sequence[str]] | None = None) -> bytes:
    """The file of an object. Clusters share most of theirs, and one object is asked for more than once.

    ``choices``: by key at the top, all that may ever stand in its list, see ``with_choices``.
    """
    if choices:
        return with_choices(dump(body), choices).encode()
    if body.get("kind") == "TrainJob":  # each is another
        return dump(body).encode()
    return _encoded(marshal.dumps(dict(body), 2))


def with_choices(text: str, choices: Mapping[str, Sequence[str]]) -> str:
    """A text with a comment before the place of each possible item of some lists at the top.

    The comments never change, so two edits that put two items into a list never touch: git merges changes that have an
    unchanged line between them.
    """
    lines: list[str] = []
    rest: list[str] = []  # the choices of the list at hand for which no comment stands yet
    for line in text.splitlines():
        is_item = line.startswith("- ")
        passed = len(rest)
        if is_item:
            passed = 0
            if line[2:] in rest:
                passed = rest.index(line[2:]) + 1
        lines += map("# {}".format, rest[:passed])
        rest = rest[passed:]
        lines.append(line)
        if not rest:
            key = line.removesuffix(":")
            rest = list(choices.get(key, ()))
    lines += map("# {}".format, rest)
    return "\n".join(lines) + "\n"


@lru_cache(512)
def _encoded(body: bytes) -> bytes:
    """``body``: in ``marshal``'s form, in which two are the same only if all of their values are."""
    return dump(marshal.loads(body)).encode()  # noqa: S302 - made by the caller


def _ordered(body: Mapping[str, Any], first: tuple[str, ...]) -> dict[str, Any]:
    ordered = {key: body[key] for key in first if key in body}
    return ordered | dict(body)


def _mapping(body: Mapping[str, Any], indent: str, lines: list[str]) -> None:
    for key, value in body.items():
        if type(key) is not str:
            raise TypeError(f"key {key!r} is not a string")
        if _is_plain(key):
            name = key
        else:
            name = _quoted(key)
        if len(name) > _MAX_SIMPLE_KEY:
            name = f"? {name}\n{indent}"
        _entry(f"{indent}{name}:", value, indent, lines)


def _entry(head: str, value: Any, indent: str, lines: list[str]) -> None:
    """A key with its value, on one line or on those below."""
    if isinstance(value, Mapping) and value:
        lines.append(head)
        _mapping(value, indent + "  ", lines)
    elif isinstance(value, (list, tuple)) and value:
        lines.append(head)
        _sequence(value, indent, lines)
    else:
        text = _scalar(value, indent + "  ")
        lines.append(f"{head} {text}")


def _sequence(items: list[Any] | tuple[Any, ...], indent: str, lines: list[str]) -> None:
    inner = indent + "  "
    for item in items:
        first = len(lines)
        if isinstance(item, Mapping) and item:
            _mapping(item, inner, lines)
        elif isinstance(item, (list, tuple)) and item:
            _sequence(item, inner, lines)
        else:
            lines.append(f"{inner}{_scalar(item, inner)}")
        # The first line moves up to the dash.
        entry = lines[first][len(inner) :]
        lines[first] = f"{indent}- {entry}"


def _scalar(value: Any, indent: str) -> str:
    if isinstance(value, str):
        return _text(value, indent)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(float(value))
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    raise TypeError(f"{type(value).__name__} has no YAML form")


def _float(value: float) -> str:
    """YAML 1.1 requires a point and a signed exponent; Python writes the sign."""
    if not math.isfinite(value):
        raise TypeError(f"{value} has no place in a manifest")
    mantissa, e, exponent = repr(value).partition("e")
    if not e:
        return mantissa
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{exponent}"


@lru_cache(2048)
def _is_plain(text: str) -> bool:
    """Most keys and texts stand in every object of a kind."""
    if _PLAIN.match(text) is not None and text not in _WORDS:
        return True
    return _UNIT.match(text) is not None


def _text(text: str, indent: str) -> str:
    if _is_plain(text):
        return text
    if "\n" in text and _is_literal(text):
        return "\n".join(_literal(text, indent))
    return _quoted(text)


def _is_literal(text: str) -> bool:
    """Whether a literal block keeps every character, in every reader, and is easy to read."""
    if text[0] in " \t\n" or not text.strip("\n"):
        return False
    if not _is_shown(text):
        return False
    if "\n\t" in text:
        return False
    return not (" \n" in text or "\t\n" in text or text.endswith((" ", "\t")))


def _is_shown(text: str) -> bool:
    """Whether a literal block may have every character. What is printable may stand there, and needs no pattern."""
    rest = text.replace("\n", "").replace("\t", "")
    return rest.isprintable() or re.match(_LITERAL, text) is not None


def _literal(text: str, indent: str) -> Iterator[str]:
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    yield ("|-", "|")[ends] if ends < 2 else "|+"
    for line in body.split("\n"):
        yield indent + line if line else ""
    yield from [""] * (ends - 1)


def _quoted(text: str) -> str:
    """In double quotes: JSON's escapes are YAML's too; what YAML may not hold is escaped as well."""
    quoted = json.dumps(text, ensure_ascii=False)
    if quoted.isascii() and "\x7f" not in quoted:
        return quoted
    return re.sub(_ESCAPES, lambda match: f"\\u{ord(match[0]):04x}", quoted)
