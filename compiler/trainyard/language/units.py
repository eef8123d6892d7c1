"""Quantities and durations as exact integers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from trainyard.language.dataclass import dataclass

QUANTITY = r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]+))?"
"""The form of a Kubernetes quantity: sign, digits, unit, exponent."""
DURATION = r"(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?"
"""The form of a duration: hours, minutes, seconds; an empty text has it too, and is none."""
_QUANTITY = re.compile(rf"{QUANTITY}\Z")
_BINARY = {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18, "": 1}
_SMALL = {"n": 10**9, "u": 10**6, "m": 10**3}
_DURATION = re.compile(rf"{DURATION}\Z")


@dataclass(frozen=True, slots=True, order=True)
class Quantity:
    """A Kubernetes quantity in thousandths of its unit (a core, a byte, a device), exact.

    Amounts below a thousandth are rounded up, as the API server does for requests
    (k8s.io/apimachinery/pkg/api/resource, Quantity.MilliValue).
    """

    milli: int

    @classmethod
    def parse(cls, text: str | int) -> Quantity:
        """Read ``90``, ``"500m"``, ``"1000Gi"``, ``"1e3"``; ``ValueError`` if it is none."""
        return _parse(str(text))

    @classmethod
    def read(cls, value: Any) -> Quantity | None:
        """An amount as a file has it, a text or a number; ``None`` where it is none."""
        if value is None or isinstance(value, bool):
            return None
        try:
            return _parse(str(value))
        except ValueError:
            return None

    @classmethod
    def of(cls, value: int) -> Quantity:
        """So many whole units (cores, bytes, devices)."""
        return cls(value * 1000)

    @classmethod
    def gib(cls, value: int) -> Quantity:
        """So many GiB."""
        return cls(value * 1024**3 * 1000)

    @classmethod
    def mib(cls, value: int) -> Quantity:
        """So many MiB."""
        return cls(value * 1024**2 * 1000)

    @property
    def value(self) -> int:
        """Whole units, rounded up."""
        return -(-self.milli // 1000)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.milli + other.milli)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.milli - other.milli)

    def __mul__(self, count: int) -> Quantity:
        return Quantity(self.milli * count)

    def __bool__(self) -> bool:
        return self.milli != 0

    def __str__(self) -> str:
        return _text(self.milli)


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    matched = _QUANTITY.match(text)
    if matched is None:
        raise ValueError(f"{text!r} is not a quantity")
    sign, digits, suffix, exponent = matched.groups()
    whole, _, fraction = digits.partition(".")
    numerator = int((whole or "0") + fraction)
    denominator = 10 ** len(fraction)
    suffix = suffix or ""
    if suffix in _SMALL:
        denominator *= _SMALL[suffix]
    else:
        numerator *= _BINARY.get(suffix) or _DECIMAL[suffix]
    if exponent:
        power = int(exponent)
        if abs(power) > 30:
            raise ValueError(f"{text!r} is out of range")
        if power >= 0:
            numerator *= 10**power
        else:
            denominator *= 10**-power
    milli = -(-numerator * 1000 // denominator)
    return Quantity(-milli if sign == "-" else milli)


@lru_cache(maxsize=4096)
def _text(milli: int) -> str:
    if milli % 1000:
        return f"{milli}m"
    value = milli // 1000
    for suffix, factor in reversed(_BINARY.items()):
        if value and value % factor == 0:
            return f"{value // factor}{suffix}"
    return str(value)


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in whole seconds, written as Kubernetes and Flux do (``1h30m``; no days)."""

    seconds: int

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read ``20m``, ``1h30m``, ``45s``; ``ValueError`` if it is none."""
        matched = _DURATION.match(text)
        if not text or matched is None:
            raise ValueError(f"{text!r} is not a duration")
        numbers = [int(part or 0) for part in matched.groups()]
        hours, minutes, seconds = numbers
        return cls(hours * 3600 + minutes * 60 + seconds)

    @classmethod
    def minutes(cls, count: int) -> Duration:
        """So many minutes."""
        return cls(count * 60)

    def __str__(self) -> str:
        hours, rest = divmod(self.seconds, 3600)
        minutes, seconds = divmod(rest, 60)
        text = ""
        counts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
        for count, unit in counts:
            if count:
                text += f"{count}{unit}"
        return text or "0s"


def count(text: str | None) -> int | None:
    """A number that is written in digits alone; ``None`` for anything else."""
    return int(text) if text is not None and text.isdecimal() else None
