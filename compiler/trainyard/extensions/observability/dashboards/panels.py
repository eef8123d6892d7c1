"""Short forms of the panels that dashboards consist of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trainyard.extensions.observability.dashboards.plan import Panel, Query, Variable

GRAPH, NUMBER = "timeseries", "stat"
"""Grafana's names of a graph over time, and of the last value in large figures."""

RATE = "$__rate_interval"
"""The shortest time over which a rate has samples; Grafana derives it from the interval of the scrapes."""
RANGE = "$__range"
"""The time that the dashboard shows."""

SHARE, PERCENT, COUNT = "percentunit", "percent", "short"
BYTES, BYTES_A_SECOND, MEBIBYTES = "bytes", "binBps", "mbytes"
WATTS, CELSIUS, SECONDS, DOLLARS = "watt", "celsius", "s", "currencyUSD"
"""Units by Grafana's names (grafana-foundation-sdk 0.0.21, models/units.py)."""

Queries = str | dict[str, str]
"""A query, or several by the names of their series."""


def graph(title: str, unit: str, queries: Queries, legend: str = "", about: str = "") -> Panel:
    """Values over time; ``legend`` names the series of a single query."""
    return Panel(title, GRAPH, unit, _queries(queries, legend), about=about)


def number(title: str, unit: str, query: str, about: str = "") -> Panel:
    """The last value."""
    return Panel(title, NUMBER, unit, (Query(query),), about=about)


def _queries(queries: Queries, legend: str) -> tuple[Query, ...]:
    if isinstance(queries, str):
        return (Query(queries, legend),)
    return tuple(Query(expr, name) for name, expr in queries.items())


def rows(titled: Mapping[str, Sequence[Panel]]) -> tuple[Panel, ...]:
    """Panels by the title of their row, in one sequence."""
    return tuple(replace(panel, row=title) for title, panels in titled.items() for panel in panels)


def choice(name: str, metric: str, label: str | None = None, *, several: bool = False) -> Variable:
    """A variable with the values of a label, which has the variable's name unless another is given."""
    return Variable(name, f"label_values({metric}, {label or name})", several)
