"""The names that OpenCost's prices go by."""

from __future__ import annotations

from trainyard.extensions.observability.monitoring.names import key_route as monitoring
from trainyard.language.places import Route

STAGE = "opencost"
"""The stage of its chart and of its prices: a pod without its prices would not start."""
PRICES, FILE = "opencost-prices", "prices.csv"
"""The ConfigMap of the prices, and its key."""


def key_route() -> Route:
    """The place of the key in the spec."""
    return monitoring() / "openCost"
