"""A result with its reason: a range, the formula, the numbers in it, and the source."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a sum, in bytes or seconds: between ``least`` and ``most``.

    ``formula`` has the names of the spec, ``numbers`` the same with the values of this job.
    """

    name: str
    least: float
    most: float
    formula: str
    numbers: str
    source: str

    @property
    def middle(self) -> float:
        """The estimate."""
        return (self.least + self.most) / 2


def least(parts: Iterable[Part]) -> float:
    """The lower ends together."""
    return sum(part.least for part in parts)


def most(parts: Iterable[Part]) -> float:
    """The upper ends together."""
    return sum(part.most for part in parts)


def middle(parts: Iterable[Part]) -> float:
    """The estimates together."""
    return sum(part.middle for part in parts)
