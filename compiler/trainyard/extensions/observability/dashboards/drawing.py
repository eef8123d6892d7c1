"""Draws a dashboard in Grafana's classic form, by the types of Grafana's foundation SDK (0.0.21).

Only its models are used: its builders import the schema of version 2 as well, which takes three times as long.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import lru_cache

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common, prometheus

with warnings.catch_warnings():
    # It prefers the schema of version 2, which no Grafana before 12 reads (docs/adr/0029).
    warnings.simplefilter("ignore", DeprecationWarning)
    from grafana_foundation_sdk.models import dashboard as grafana

from trainyard.extensions.observability.dashboards.panels import NUMBER
from trainyard.extensions.observability.dashboards.plan import Dashboard, Panel, Query, Variable

_SOURCE = common.DataSourceRef(type_val="prometheus", uid="prometheus")
"""The data source that the chart makes (kube-prometheus-stack 88.5.3, grafana.sidecar.datasources.uid)."""
_TAG = "trainyard"
_WIDTH = 24
"""Columns of Grafana's grid."""
_SIZES = {NUMBER: (6, 4)}
_GRAPH = (12, 8)
"""Width and height of panels, in columns and rows of the grid."""


@lru_cache(64)
def drawn(dashboard: Dashboard) -> str:
    """Its JSON, drawn once for all clusters that have the same dashboard."""
    whole = grafana.Dashboard(
        uid=dashboard.uid,
        title=dashboard.title,
        tags=[_TAG],
        editable=False,
        graph_tooltip=grafana.DashboardCursorSync.CROSSHAIR,
        time=grafana.DashboardDashboardTime(from_val="now-6h", to="now"),
        refresh="1m",
        panels=list(_placed(dashboard.panels)),
        templating=grafana.DashboardDashboardTemplating(
            list_val=[_variable(variable) for variable in dashboard.variables]
        ),
        links=[_others()],
    )
    return json.dumps(whole, cls=JSONEncoder, indent=1, ensure_ascii=False) + "\n"


def _others() -> grafana.DashboardLink:
    """The way to the other dashboards, in the time that is shown."""
    return grafana.DashboardLink(
        title="Dashboards",
        type_val=grafana.DashboardLinkType.DASHBOARDS,
        tags=[_TAG],
        as_dropdown=True,
        keep_time=True,
    )


def _variable(variable: Variable) -> grafana.VariableModel:
    everything = grafana.VariableOption(text=["All"], value=["$__all"])
    return grafana.VariableModel(
        type_val=grafana.VariableType.QUERY,
        name=variable.name,
        query=variable.query,
        definition=variable.query,
        datasource=_SOURCE,
        current=everything if variable.several else None,
        multi=variable.several,
        include_all=variable.several,
        refresh=grafana.VariableRefresh.ON_TIME_RANGE_CHANGED,
        sort=grafana.VariableSort.ALPHABETICAL_ASC,
    )


def _placed(panels: tuple[Panel, ...]) -> Iterator[grafana.Panel | grafana.RowPanel]:
    """Panels from left to right and from top to bottom, below the title of their row."""
    x = y = tallest = 0
    row = ""
    for number, panel in enumerate(panels, 1):
        width, height = _SIZES.get(panel.kind, _GRAPH)
        if panel.row != row:
            row = panel.row
            x, y, tallest = 0, y + tallest, 0
            place = grafana.GridPos(h=1, w=_WIDTH, x=0, y=y)
            yield grafana.RowPanel(title=row, grid_pos=place, id_val=1000 + number)
            y += 1
        if x + width > _WIDTH or (tallest and height != tallest):
            x, y, tallest = 0, y + tallest, 0
        yield _panel(panel, number, grafana.GridPos(h=height, w=width, x=x, y=y))
        x, tallest = x + width, height


def _panel(panel: Panel, number: int, place: grafana.GridPos) -> grafana.Panel:
    targets: list[Dataquery] = [_target(*numbered) for numbered in enumerate(panel.queries)]
    return grafana.Panel(
        id_val=number,
        type_val=panel.kind,
        title=panel.title,
        description=panel.about or None,
        datasource=_SOURCE,
        grid_pos=place,
        targets=targets,
        field_config=grafana.FieldConfigSource(defaults=grafana.FieldConfig(unit=panel.unit)),
        options=None,
    )


def _target(index: int, query: Query) -> prometheus.Dataquery:
    return prometheus.Dataquery(
        ref_id=chr(ord("A") + index),
        expr=query.expr,
        legend_format=query.legend or None,
        datasource=_SOURCE,
        range_val=True,
    )
