"""What exporters say: their metrics, the labels of each, and how many series one is, by exporter and version.

Listed are the metrics that Prometheus keeps: what alerts, dashboards and other programs ask for, and nothing else. A
metric that is not listed is dropped when it is scraped, or never made.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any

from trainyard.catalog.catalog import DATA
from trainyard.catalog.versions import version_key
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of an exporter: its type, what it says, its labels, and its series: ``times`` for each ``per``.

    ``reader``: the program that alone asks for it, and without which it is not kept; "" where alerts or dashboards do.
    """

    name: str
    exporter: str
    type: str
    help: str
    labels: frozenset[str]
    per: str
    times: int
    reader: str = ""


@dataclass(frozen=True, slots=True)
class Exporter:
    """An exporter in one version. ``prefixes``: what the names of its metrics begin with, and of no other's.

    ``default``: what it has where nobody says which metrics it is to have; empty where that is not known. It is that
    of each version from ``default_since`` on, with ``more`` in some.
    """

    name: str
    version: str
    source: str
    prefixes: tuple[str, ...]
    metrics: Mapping[str, Metric]
    default: frozenset[str] = frozenset()
    default_since: str = ""
    more: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def defaults(self, version: str) -> frozenset[str] | None:
        """What a version of its chart has by default; ``None`` where that is not known."""
        number = version.strip().lstrip("v")
        if not number.replace(".", "").isdecimal():
            return None
        first = version_key(self.default_since or self.version)
        if not first <= version_key(number) <= version_key(self.version):
            return None
        return self.default | self.more.get(number, frozenset())


@cache
def exporters() -> Mapping[str, Exporter]:
    """Every exporter by name."""
    rows: dict[str, Any] = json.loads((DATA / "exporters.json").read_bytes())
    return {name: _exporter(name, row) for name, row in rows.items()}


def _exporter(name: str, row: Mapping[str, Any]) -> Exporter:
    common = row["labels"]
    metrics = {
        metric: Metric(
            metric,
            name,
            facts["type"],
            facts["help"],
            frozenset((*common, *facts["labels"])),
            facts["per"],
            facts["times"],
            facts.get("reader", ""),
        )
        for metric, facts in row["metrics"].items()
    }
    return Exporter(
        name,
        row["version"],
        row["source"],
        tuple(row["prefixes"]),
        metrics,
        frozenset(row.get("default", ())),
        row.get("default_since", ""),
        _more(row.get("more_by_default", {})),
    )


def _more(row: Mapping[str, Any]) -> Mapping[str, frozenset[str]]:
    return {version: frozenset(row["metrics"]) for version in row.get("in", ())}


@cache
def metrics() -> Mapping[str, Metric]:
    """Every metric by name."""
    return {name: metric for each in exporters().values() for name, metric in each.metrics.items()}


def exporter_of(metric: str) -> Exporter | None:
    """The exporter whose metrics begin like this one: the longest beginning counts."""
    for prefix, name in _prefixes():
        if metric.startswith(prefix):
            return exporters()[name]
    return None


@cache
def _prefixes() -> list[tuple[str, str]]:
    """What the names of metrics begin with, and the exporter that has them; the longest first."""
    prefixes = [
        (prefix, name) for name, exporter in exporters().items() for prefix in exporter.prefixes
    ]
    return sorted(prefixes, key=lambda pair: (len(pair[0]), pair[1]), reverse=True)


def of(*names: str, readers: Collection[str] = ()) -> Iterator[Metric]:
    """The metrics of some exporters that are kept where these programs read them, in the order of the data."""
    for name in names:
        for metric in exporters()[name].metrics.values():
            if not metric.reader or metric.reader in readers:
                yield metric


def kept(*names: str, readers: Collection[str] = ()) -> str:
    """The regular expression that keeps the metrics of some exporters."""
    return "|".join(metric.name for metric in of(*names, readers=readers))
