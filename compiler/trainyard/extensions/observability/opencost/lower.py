"""Lower: the table of prices, in the form that OpenCost reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from trainyard.extensions.observability.opencost.names import FILE, STAGE
from trainyard.extensions.observability.opencost.plan import CostPrices
from trainyard.output.lowering.body import manifest_in, object_head
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan
from trainyard.plan.scheduling import POOL_LABEL

_NODE, _VOLUME = f"metadata.labels.{POOL_LABEL}", "spec.storageClassName"
"""What of a node and of a volume a row is looked up by: one field for all rows."""


def lower(plan: Plan) -> Iterator[Manifest]:
    """A file."""
    for prices in plan.of(CostPrices):
        yield manifest_in(STAGE, prices_body(prices), prices.at)


def prices_body(prices: CostPrices) -> Body:
    """ConfigMap."""
    whole = object_head("v1", "ConfigMap", prices.name, prices.namespace)
    return {**whole, "data": {FILE: table(prices)}}


def table(prices: CostPrices) -> str:
    """The rows (opencost/opencost pkg/cloud/provider/csvprovider.go, type price): EndTimestamp, InstanceID, Region,
    AssetClass, InstanceIDField, InstanceType, MarketPriceHourly, Version.

    A node that no row names by its pool is looked up by Region and type. A row of a pool has no type: the price of that
    type would be a mean of both.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for name, usd in prices.types.items():
        writer.writerow(("", name, prices.region, "node", _NODE, name, _usd(usd), ""))
    for name, usd in prices.pools.items():
        writer.writerow(("", name, prices.region, "node", _NODE, "", _usd(usd), ""))
    for name, usd in prices.volumes.items():
        writer.writerow(("", name, "", "pv", _VOLUME, "", _usd(usd), ""))
    return text.getvalue()


def _usd(price: float) -> str:
    return f"{price:.8f}".rstrip("0").rstrip(".")
