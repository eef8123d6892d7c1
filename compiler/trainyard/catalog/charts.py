"""The Helm values that the pinned charts read, from their `values.yaml` and templates (``derive_charts.py``).

Keys come and go between versions, so only the pinned version of a chart is known.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.language.dataclass import dataclass

DATA = Path(__file__).parent / "data" / "chart_values"
"""A file for each chart: two of them have more values than all others together, and few clusters have those."""


@dataclass(frozen=True, slots=True)
class ChartValues:
    """The values of a chart: a mapping where only its keys are read, an empty one where any is, ``None`` for a scalar
    or a list. ``also`` are keys that comments of `values.yaml` show, which may stand anywhere."""

    chart: str
    version: str
    tree: Mapping[str, Any]
    also: frozenset[str]
    source: str


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """A key that a chart does not read: its path, and the keys that there are in its place."""

    path: tuple[str, ...]
    known: tuple[str, ...]


def values_of(chart: str, version: str) -> ChartValues | None:
    """What a version of a chart reads; ``None`` where it is not known."""
    row = _row(chart)
    if row is None or row["version"].lstrip("v") != version.strip().lstrip("v"):
        return None
    return ChartValues(chart, row["version"], row["values"], frozenset(row["also"]), row["source"])


def unknown(values: Mapping[str, Any], known: ChartValues) -> Iterator[UnknownValue]:
    """The keys of values that a chart does not read."""
    yield from _below(values, known.tree, known.also, ())


def _below(
    values: Mapping[str, Any], tree: Mapping[str, Any], also: frozenset[str], path: tuple[str, ...]
) -> Iterator[UnknownValue]:
    for key, value in values.items():
        if key not in tree:
            if key not in also:
                yield UnknownValue((*path, str(key)), tuple(tree))
            continue
        inside = tree[key]
        if inside and isinstance(value, Mapping):
            yield from _below(value, inside, also, (*path, str(key)))


@cache
def _row(chart: str) -> dict[str, Any] | None:
    if f"{chart}.json" not in _files():
        return None
    row: dict[str, Any] = json.loads((DATA / f"{chart}.json").read_bytes())
    return row


@cache
def _files() -> frozenset[str]:
    return frozenset(os.listdir(DATA))
