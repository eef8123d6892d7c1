"""Where Amazon Managed Grafana is (``data/managed_grafana.json``)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from compiler.catalog.catalog import DATA


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "managed_grafana.json").read_bytes())
    return data


def grafana_regions() -> tuple[str, ...]:
    """The Regions in which CloudFormation makes workspaces."""
    return tuple(_data()["regions"])


def grafana_source() -> str:
    """Where the Regions are written."""
    source: str = _data()["source"]
    return source
