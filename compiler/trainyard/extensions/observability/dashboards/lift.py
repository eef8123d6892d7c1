"""Lift: dashboards in ConfigMaps, ours and those of others, in Grafana's classic form.

Of a dashboard only what asks Prometheus is read: panels and variables with another data source are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.extensions.observability.dashboards.plan import Dashboard, Panel, Query, Variable
from trainyard.language.places import Route
from trainyard.lift.reader import Reader, labels_of, name_of, namespace_of
from trainyard.plan.base import PlanItem

_LABEL = "grafana_dashboard"
_PROMETHEUS = "prometheus"
_ROW = "row"


def config_map(body: Reader) -> Iterator[PlanItem]:
    """A ConfigMap that Grafana's sidecar reads, by its label."""
    if _LABEL not in labels_of(body):
        return
    for key, entry in (body / "data").entries():
        whole = _json(key, entry.word())
        if isinstance(whole, dict) and isinstance(whole.get("panels"), list):
            yield _dashboard(body, key, whole, entry.at)


def _json(key: str, text: str) -> Any:
    if not key.endswith(".json"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _dashboard(body: Reader, key: str, whole: Mapping[str, Any], at: Route) -> Dashboard:
    inside = Reader(whole, at)
    return Dashboard(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        file=key,
        uid=(inside / "uid").word(),
        title=(inside / "title").word(),
        variables=tuple(_variables(inside.follow("templating", "list"))),
        panels=tuple(_panels(inside / "panels")),
        origins={"panels": at, "variables": at, "title": at},
    )


def _variables(listed: Reader) -> Iterator[Variable]:
    for each in listed.items():
        query = each / "query"
        text = query.text() or (query / "query").word()
        if (each / "type").value == "query" and text and _asks_prometheus(each):
            yield Variable((each / "name").word(), text, (each / "multi").flag() or False)


def _panels(listed: Reader, row: str = "") -> Iterator[Panel]:
    """Panels in their order; a row has those that it hides inside of it, and is above those that follow it."""
    for each in listed.items():
        if (each / "type").value == _ROW:
            row = (each / "title").word()
            yield from _panels(each / "panels", row)
            continue
        queries = tuple(_queries(each))
        if queries:
            yield Panel(
                title=(each / "title").word(),
                kind=(each / "type").word(),
                unit=each.follow("fieldConfig", "defaults", "unit").word(),
                queries=queries,
                row=row,
                about=(each / "description").word(),
            )


def _queries(panel: Reader) -> Iterator[Query]:
    for target in (panel / "targets").items():
        expr = (target / "expr").word()
        source = target if target / "datasource" else panel
        if expr and _asks_prometheus(source):
            yield Query(expr, (target / "legendFormat").word())


def _asks_prometheus(asking: Reader) -> bool:
    """Whether its data source is certainly Prometheus: by its type, or by its name in dashboards of earlier schemas."""
    source = asking / "datasource"
    if isinstance(source.value, dict):
        return (source / "type").word() == _PROMETHEUS
    return _PROMETHEUS in source.word().lower()


KINDS = {"/ConfigMap": config_map}
