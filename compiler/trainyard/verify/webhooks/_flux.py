"""Durations of Flux (github.com/fluxcd/pkg/apis/meta and the CRDs' patterns: ms, s, m, h)."""

from __future__ import annotations

import re
from typing import Any

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
