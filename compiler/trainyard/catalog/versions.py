"""Versions: their order, and ranges of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {">=": operator.ge, "<": operator.lt}


def version_key(version: str) -> tuple[int, ...]:
    """A version for comparison: its leading numbers, without ``v`` and without a pre-release.

    An AMI alias is ordered by the version behind its ``@``.
    """
    numbers: list[int] = []
    number = version.rpartition("@")[2].removeprefix("v")
    release = number.split("-")[0].split("+")[0]
    for part in release.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


def in_range(version: str, bounds: str) -> bool:
    """Whether a version lies in a range like ``>=0.16 <0.17``; every version lies in the empty one."""
    key = version_key(version)
    parts = bounds.split()
    return all(_meets(key, bound) for bound in parts)


def _meets(key: tuple[int, ...], bound: str) -> bool:
    sign = bound.rstrip("0123456789.")
    limit = version_key(bound.removeprefix(sign))
    return _COMPARISONS[sign](key, limit)
