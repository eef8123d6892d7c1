"""Kubernetes quantities, exact. Read here and not with the plan's own type: what checks an output shares no code with
what made it.

Source: k8s.io/apimachinery v0.36 pkg/api/resource.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

_QUANTITY = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,2}))?\Z"
)
_POWERS_OF_10 = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_FACTORS = {suffix: Fraction(10) ** power for suffix, power in _POWERS_OF_10.items()}
_FACTORS |= {f"{prefix}i": Fraction(1024) ** power for power, prefix in enumerate("KMGTPE", 1)}


def amount(value: Any) -> Fraction | None:
    """The number of a quantity, or ``None`` if the text is no quantity."""
    return _amount(str(value))


@lru_cache(maxsize=4096)
def _amount(text: str) -> Fraction | None:
    match = _QUANTITY.match(text)
    if match is None:
        return None
    number, suffix, power = match.groups()
    factor = _FACTORS.get(suffix, Fraction(1))
    scale = Fraction(10) ** int(power or 0)
    return Fraction(number.removesuffix(".")) * factor * scale
