"""Durations of Flux (github.com/fluxcd/pkg/apis/meta and the CRDs' patterns: ms, s, m, h)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compiler.diagnostics.diagnostic import listed
from compiler.output.body import at
from compiler.verify.fault import Fault, Path, refused

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_DURATION = re.compile(rf"(?:{_PART.pattern})+")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds(text: Any) -> float | None:
    """Seconds of a duration, or ``None`` if it is none."""
    if not isinstance(text, str):
        return None
    if not _DURATION.fullmatch(text):
        return None
    parts = _PART.findall(text)
    return sum(float(amount) * _SECONDS[unit] for amount, unit in parts)


def exactly_one(path: Path, mapping: Any, fields: tuple[str, ...]) -> Iterator[Fault]:
    """The fault of a mapping that has none, or more than one, of some fields."""
    given = [field for field in fields if at(mapping, field) is not None]
    if len(given) != 1:
        got = listed(given, " and ") or "none"
        message = f"exactly one of {listed(fields)} is wanted, there is {got}"
        yield refused(path, message, "keep one of them" if given else "write one of them")
