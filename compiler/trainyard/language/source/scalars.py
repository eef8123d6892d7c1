"""What a plain scalar means: the YAML 1.2 core schema, minus what a YAML 1.1 reader would change.

Sources: YAML 1.2.2, section 10.3.2 (core schema); YAML 1.1 types https://yaml.org/type/{bool,int,float}.html.
"""

from __future__ import annotations

import re
from math import isfinite

from trainyard.language.dataclass import dataclass

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a plain scalar is not accepted: code, fact (about the text, which is named first) and help."""

    code: str
    fact: str
    help: str


WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
TRUE_1_1 = frozenset(["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"])
_FALSE_1_1 = frozenset(["n", "N", "no", "No", "NO", "off", "Off", "OFF"])
BOOLEANS_1_1 = TRUE_1_1 | _FALSE_1_1

_NUMERIC_START = frozenset("0123456789+-.")
_NUMERIC = frozenset("0123456789abcdefABCDEF+-._:oxinfINF")
"""What numbers of either version are written with: `30m`, `10.0.0.0/16` and `64Gi` have more, and are text."""
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_HEX = r"0x[0-9a-fA-F]+\Z"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z"
_NON_FINITE = r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z"
_OCTAL_1_2 = r"0o[0-7]+\Z"
_LEADING_ZERO = r"[-+]?0[0-9_]+\Z"
_SEXAGESIMAL = r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z"
_BINARY = r"[-+]?0b[01_]+\Z"
_HEX_1_1 = r"[-+]?0x[0-9a-fA-F_]+\Z"
_UNDERSCORES = r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?\Z|[-+]?\.[0-9][0-9_]*\Z"
_MAX_DIGITS = 20  # 2**64 has 20 digits; longer ones are not even converted


def resolve(text: str) -> Value | Refusal:
    """The value of a plain scalar, or why it is refused. Timestamps stay strings."""
    if not text or text[0] not in _NUMERIC_START:
        if text in BOOLEANS_1_1:
            return _ambiguous_boolean(text)
        return WORDS.get(text, text)
    if _INT.match(text):
        return _integer(text)
    if not _NUMERIC.issuperset(text):
        return text
    refusal = _ambiguous_number(text)
    if refusal is not None:
        return refusal
    if re.match(_HEX, text):
        return _integer(text)
    if re.match(_FLOAT, text):
        value = float(text)
        if isfinite(value):
            return value
        return _not_finite()
    if re.match(_NON_FINITE, text):
        return _not_finite()
    return text


def _ambiguous_boolean(text: str) -> Refusal:
    boolean = "true" if text in TRUE_1_1 else "false"
    return Refusal(
        "YML008",
        "is a boolean to YAML 1.1 readers and text to YAML 1.2 readers",
        f'write `{boolean}` for the boolean, or `"{text}"` for the text',
    )


def _integer(text: str) -> int | Refusal:
    if len(text) <= _MAX_DIGITS + 1:
        base = 16 if "x" in text else 10
        value = int(text, base)
        if -(2**63) <= value < 2**64:
            return value
    return Refusal(
        "YML011", "does not fit into 64 bits", f'quote it if it is text: `"{text[:24]}"`'
    )


def _not_finite() -> Refusal:
    return Refusal(
        "YML010", "is not a finite number", "write a finite number, or quote it if it is text"
    )


def _ambiguous_number(text: str) -> Refusal | None:
    """The refusal of a number that YAML 1.1 and 1.2 read differently."""
    quoted = f'`"{text}"` for the text'
    if re.match(_OCTAL_1_2, text):
        help = f"write {quoted}"
        if len(text) < 24:
            help = f"write `{int(text, 0)}` for the number, or {quoted}"
        return Refusal(
            "YML009", "is a number to YAML 1.2 readers and text to YAML 1.1 readers", help
        )
    if re.match(_LEADING_ZERO, text):
        return _leading_zero(text, quoted)
    if re.match(_SEXAGESIMAL, text):
        return Refusal(
            "YML009",
            "is a base-60 number to YAML 1.1 readers and text to YAML 1.2 readers",
            f"write {quoted}",
        )
    is_hex = re.match(_HEX_1_1, text) and not re.match(_HEX, text)
    if is_hex or re.match(_BINARY, text):
        return Refusal(
            "YML009",
            "is a number to YAML 1.1 readers and text to YAML 1.2 readers",
            f"write the number in decimal, or {quoted}",
        )
    if "_" in text and re.match(_UNDERSCORES, text):
        return Refusal(
            "YML009",
            "is a number to YAML 1.1 readers and text to YAML 1.2 readers",
            f"write `{text.replace('_', '')}` for the number, or {quoted}",
        )
    return None


def _leading_zero(text: str, quoted: str) -> Refusal:
    """``010`` is 8 in YAML 1.1 and 10 in YAML 1.2; ``012345678901`` (an account id) loses its zero."""
    digits = text.lstrip("+-").replace("_", "")
    number = digits.lstrip("0") or "0"
    is_octal = set(digits) <= set("01234567")
    if is_octal and len(digits) < 24:
        octal = str(int(digits, 8))
        either = f"`{number}`"
        if octal != number:
            either += f" or (octal) `{octal}`"
        return Refusal(
            "YML009",
            "is octal to YAML 1.1 readers and decimal to YAML 1.2 readers",
            f"write {either} for the number, or {quoted}",
        )
    return Refusal(
        "YML009",
        "is text to YAML 1.1 readers and loses its leading zero with YAML 1.2 readers",
        f"write `{number}` for the number, or {quoted}",
    )
