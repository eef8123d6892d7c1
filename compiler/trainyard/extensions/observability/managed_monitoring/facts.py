"""In which Regions AWS keeps samples and shows them (``data/managed_monitoring.json``)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from trainyard.catalog.catalog import DATA


class Service(NamedTuple):
    """A service of AWS: the Regions that it is in, and where that is written."""

    regions: tuple[str, ...]
    source: str


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "managed_monitoring.json").read_bytes())
    return data


def prometheus() -> Service:
    """Amazon Managed Service for Prometheus."""
    return _service("prometheus")


def grafana() -> Service:
    """Amazon Managed Grafana."""
    return _service("grafana")


def _service(name: str) -> Service:
    known = _data()[name]
    return Service(tuple(known["regions"]), known["source"])
