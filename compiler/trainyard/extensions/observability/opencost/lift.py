"""Lift: the prices of OpenCost, from its table."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from trainyard.extensions.observability.opencost.plan import CostPrices
from trainyard.lift.reader import Reader, name_of, namespace_of
from trainyard.plan.base import PlanItem

_NAME, _FILE = "opencost-prices", "prices.csv"
_COLUMNS = 8


def config_map(body: Reader) -> Iterator[PlanItem]:
    """The ConfigMap of our name that holds a table of prices; a row that is not whole says nothing."""
    table = (body / "data" / _FILE).text()
    if table is None or name_of(body) != _NAME:
        return
    region = ""
    types: dict[str, float] = {}
    pools: dict[str, float] = {}
    volumes: dict[str, float] = {}
    for row in csv.reader(table.splitlines()):
        if len(row) != _COLUMNS:
            continue
        _, name, of, kind, _, instance_type, price, _ = row
        usd = _number(price)
        if usd is None:
            continue
        region = of or region
        if kind == "pv":
            volumes[name] = usd
        elif instance_type:
            types[instance_type] = usd
        else:
            pools[name] = usd
    yield CostPrices(
        at=body.at,
        name=_NAME,
        namespace=namespace_of(body),
        region=region,
        types=types,
        pools=pools,
        volumes=volumes,
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


KINDS = {"/ConfigMap": config_map}
