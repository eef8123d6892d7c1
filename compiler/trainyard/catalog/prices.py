"""What AWS charges, in USD: nodes on demand by Region, Capacity Blocks, and services that are not nodes.

``data/*_prices.json`` hold sets of prices, each with the source and date that all of its prices have. Where only
another Region's is known, that is given, and says whose it is. What no set has is estimated by what is nearest to it,
and says so (``estimate``); where nothing is, it is ``None``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeAlias

from trainyard.catalog.auto_mode import fee_share, fee_source
from trainyard.catalog.catalog import DATA, Catalog, Source
from trainyard.language.dataclass import dataclass

MONTH = 730
"""Hours of a month, as the AWS Pricing Calculator counts it."""
REFERENCE = "us-east-1"
"""The Region whose price is taken first where one's own is not known."""
_FILES = ("regional_prices.json", "block_prices.json", "service_prices.json")
Prices: TypeAlias = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Price:
    """USD of one unit, its Region, and its source. ``estimate``: of what it is the price, and how far that may be off,
    where no source has that of the unit."""

    usd: float
    region: str
    source: Source
    estimate: str = ""


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


def on_demand_or_like(catalog: Catalog, name: str, region: str) -> Price | None:
    """The same; of a type that nobody lists on demand the price of a Capacity Block of it."""
    price = on_demand(catalog, name, region)
    if price is not None:
        return price
    bought = block(name, region)
    if bought is None:
        return None
    return replace(
        bought,
        estimate=f"a Capacity Block of {name}: no price on demand is known, nor how far it is off",
    )


_SAGEMAKER = Source(
    "SageMaker's prices beside EC2's: 15 % more (ml.p3.16xlarge) to 40 % more (ml.g4dn.xlarge)",
    "goerlitz/nlp-classification notebooks/10kGNAD/sagemaker/README.md, as of aws.amazon.com/sagemaker/pricing",
    "read 2026-11-28",
    "2021-06-01",
)
_SAGEMAKER_FACTOR = 1.25


def sagemaker(catalog: Catalog, name: str, region: str) -> Price | None:
    """An hour of an ``ml.`` type, by its name at EC2: a quarter more than EC2's price."""
    price = on_demand_or_like(catalog, name, region)
    if price is None:
        return None
    estimate = f"{name} and a quarter more: prices of `ml.` types are 15 to 40 % above EC2's"
    return Price(price.usd * _SAGEMAKER_FACTOR, price.region, _SAGEMAKER, estimate)


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


_FASTER = {"50": "125", "100": "125", "200": "250"}
"""MB/s for each TiB: of PERSISTENT_1, and the next of PERSISTENT_2."""


def lustre(deployment: str, throughput: int | None, region: str) -> Price | None:
    """A GiB of FSx for Lustre for a month."""
    kind = deployment if throughput is None else f"{deployment}/{throughput}"
    price = service(f"{kind} GiB month", region)
    if price is not None or deployment != "PERSISTENT_1":
        return price
    faster = _FASTER.get(str(throughput))
    near = None if faster is None else service(f"PERSISTENT_2/{faster} GiB month", region)
    if near is None:
        return None
    estimate = f"PERSISTENT_2 of {faster} MB/s for each TiB: the price of {kind} is not known, nor how far it is off"
    return replace(near, estimate=estimate)


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
    yield _SAGEMAKER


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
