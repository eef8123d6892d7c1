"""How often accelerators of large clusters failed, as their owners published it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FailureRate:
    """So many ``failures`` of ``accelerators`` in some ``days``, each of which ended a job. ``counted``: in words;
    ``date``: when the source was read."""

    name: str
    counted: str
    failures: float
    accelerators: int
    days: int
    source: str
    version: str
    date: str

    @property
    def hours(self) -> float:
        """The hours of one accelerator between two failures."""
        return self.accelerators * self.days * 24 / self.failures


@dataclass(frozen=True, slots=True)
class FailureRates:
    """All published rates. ``usual`` is that of one job that ran for weeks, by which single jobs are planned."""

    rates: tuple[FailureRate, ...]

    @property
    def usual(self) -> FailureRate:
        return self.rates[0]


def failure_rates_from_data(data: Mapping[str, Any]) -> FailureRates:
    """The rates from ``data/failure_rates.json``."""
    return FailureRates(tuple(FailureRate(**item) for item in data["rates"]))
