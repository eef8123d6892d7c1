"""The Regions that lack a type of CloudFormation (``data/type_regions.json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA


@cache
def _facts() -> Mapping[str, Any]:
    facts: dict[str, Any] = json.loads((DATA / "type_regions.json").read_bytes())
    return facts


@cache
def _lacking() -> Mapping[str, frozenset[str]]:
    regions = _facts()["regions"]
    found: dict[str, frozenset[str]] = {}
    for places, kinds in _facts()["lacking"].items():
        without = frozenset(regions[int(place)] for place in places.split())
        found.update(dict.fromkeys(kinds.split(), without))
    return found


def without(kind: str) -> frozenset[str]:
    """The Regions that lack a type; none where all have it, or it is known nowhere. Of a Region that is not among those
    that are known nothing is said."""
    return _lacking().get(kind.removeprefix("AWS::"), frozenset())


def source() -> str:
    """Where these facts are from."""
    return f"{_facts()['version']}, provider schemas by Region"
