"""The names that OpenCost's prices go by."""

from __future__ import annotations

from compiler.places import Route
from compiler.platforms.eks.monitoring.stack import at as monitoring

STAGE = "opencost"
"""The stage of its chart and of its prices: a pod without its prices would not start."""
PRICES, FILE = "opencost-prices", "prices.csv"
"""The ConfigMap of the prices, and its key."""


def at() -> Route:
    """The place of the key in the spec."""
    return monitoring() / "openCost"
