"""What AWS charges, in USD: nodes on demand by Region, Capacity Blocks, and services that are not nodes.

``data/*_prices.json`` hold sets of prices, each with the source and date that all of its prices have. A price that no
set has is ``None``: none is guessed. Where only another Region's is known, that is given, and says whose it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from compiler.catalog.auto_mode import fee_share, fee_source
from compiler.catalog.catalog import DATA, Catalog, Source
from compiler.dataclass import dataclass

MONTH = 730
"""Hours of a month, as the AWS Pricing Calculator counts it."""
REFERENCE = "us-east-1"
"""The Region whose price is taken first where one's own is not known."""
_FILES = ("regional_prices.json", "block_prices.json", "service_prices.json")
Prices: TypeAlias = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Price:
    """USD of one unit, its Region, and its source."""

    usd: float
    region: str
    source: Source


@dataclass(frozen=True, slots=True)
class PriceSet:
    """Prices of one source: by what is priced and by Region."""

    source: Source
    prices: Mapping[str, Prices]


def on_demand(catalog: Catalog, name: str, region: str) -> Price | None:
    """An hour of an instance on demand."""
    instance = catalog.instance_types.get(name)
    if instance is None:
        return None
    own = instance.price_usd_hour
    if region in own:
        return Price(own[region], region, _source_of_types(catalog))
    price = _listed("regional_prices.json", name, region)
    if price is not None and price.region == region:
        return price
    if REFERENCE in own:
        return Price(own[REFERENCE], REFERENCE, _source_of_types(catalog))
    return price


def dearest(prices: Iterable[Price | None]) -> Price | None:
    """The highest of some prices, known only where all of them are."""
    known = []
    for price in prices:
        if price is None:
            return None
        known.append(price)
    return max(known, key=lambda price: price.usd)


def block(name: str, region: str) -> Price | None:
    """An hour of an instance in a Capacity Block that is bought now."""
    return _listed("block_prices.json", name, region)


def service(name: str, region: str) -> Price | None:
    """The price of something other than a node, by its name in the data, which ends in its unit."""
    return _listed("service_prices.json", name, region)


def auto_mode_fee(catalog: Catalog, name: str, region: str) -> Price | None:
    """What EKS Auto Mode adds to the price of an instance, for an hour."""
    instance = catalog.instance_types.get(name)
    price = on_demand(catalog, name, region)
    if instance is None or price is None:
        return None
    share = fee_share(instance)
    if share is None:
        return None
    return Price(price.usd * share, price.region, fee_source())


def price_sources() -> Iterator[Source]:
    """Where the prices are from, but for those of the catalog's own instance types."""
    for file in _FILES:
        for prices in _sets(file):
            yield prices.source
    yield fee_source()


def _listed(file: str, name: str, region: str) -> Price | None:
    """The price of a Region; without one that of ``REFERENCE``, then that of any other Region."""
    others = []
    for prices in _sets(file):
        by_region = prices.prices.get(name, {})
        if region in by_region:
            return Price(by_region[region], region, prices.source)
        for other, usd in by_region.items():
            others.append(Price(usd, other, prices.source))
    for price in others:
        if price.region == REFERENCE:
            return price
    return others[0] if others else None


@cache
def _sets(file: str) -> tuple[PriceSet, ...]:
    data = json.loads((DATA / file).read_bytes())
    sets = []
    for entry in data["sets"]:
        source = Source(*entry["source"])
        sets.append(PriceSet(source, entry["usd"]))
    return tuple(sets)


def _source_of_types(catalog: Catalog) -> Source:
    """Where the prices of the instance types are from: the overlay, where it has any, stands last."""
    of_prices = [source for source in catalog.sources if "price" in source.name]
    return of_prices[-1]
