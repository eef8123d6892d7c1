"""Lower: a ConfigMap a dashboard, with the label that Grafana's sidecar reads."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.observability.dashboards.plan import Dashboard
from trainyard.extensions.observability.monitoring.lower import FOLDER
from trainyard.output.lowering.body import NO_SUBSTITUTION, manifest_in, object_head
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

LABEL = {"grafana_dashboard": "1"}
"""Of ConfigMaps that Grafana loads (kube-prometheus-stack 88.5.3, values.yaml, grafana.sidecar.dashboards)."""


def lower(plan: Plan) -> Iterator[Manifest]:
    """A file an object."""
    for dashboard in plan.of(Dashboard):
        yield manifest_in(FOLDER, dashboard_body(dashboard), dashboard.at)


def dashboard_body(dashboard: Dashboard) -> Body:
    """ConfigMap. Grafana's own variables look like those of Flux."""
    # A tenth of a second, which a cluster without dashboards does not pay.
    from trainyard.extensions.observability.dashboards.drawing import drawn

    whole = object_head(
        "v1",
        "ConfigMap",
        dashboard.name,
        dashboard.namespace,
        labels=LABEL,
        annotations=NO_SUBSTITUTION,
    )
    return {**whole, "data": {dashboard.file: drawn(dashboard)}}
