"""The cluster's Prometheus as an agent: it scrapes, and sends what it scraped to a workspace in AWS.

kube-prometheus-stack 88.5.3: `prometheus.agentMode` makes a PrometheusAgent, which evaluates no rules. Prometheus
3.14.0 signs its requests by sigv4 0.4.1 and aws-sdk-go-v2, which gets credentials of EKS Pod Identity (EKS user
guide, pod-id-minimum-sdk).

It has the memory of a Prometheus that keeps its samples (``monitoring/sizing.py``). Measured 2026-11-25 with Prometheus
2.42.0 (Debian 2.42.0+ds-5), which sent to a service on the same machine: between 20,005 and 100,005 series of eight
labels, the heap at which Go collects garbage grew by 6,530 bytes a series, as it knows the labels of each twice.
"""

from __future__ import annotations

from typing import Any

from trainyard.eks.flux.plan import AwaitedValue
from trainyard.extensions.observability.managed_monitoring.names import (
    ACCOUNT,
    CONFIG_MAP,
    WORKSPACE_ID,
)
from trainyard.extensions.observability.monitoring.names import is_managed, monitoring_of
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

DISK = Quantity.gib(10)
"""Of the log of what is not yet sent: the samples of two hours at most (Prometheus, docs/prometheus_agent.md)."""


def values(context: Context) -> dict[str, Any]:
    """The values of the chart below ``prometheus``, but for the monitors of itself and how pods request."""
    region = context.spec.region
    # The chart reads texts of `remoteWrite` as templates.
    workspace = f"{{{{ .Values.prometheus.{WORKSPACE_ID} }}}}"
    url = (
        f"https://aps-workspaces.{region}.amazonaws.com/workspaces/{workspace}/api/v1/remote_write"
    )
    return {
        "agentMode": True,
        "serviceAccount": {"name": ACCOUNT},
        "prometheusSpec": {
            "scrapeInterval": str(monitoring_of(context).interval),
            "remoteWrite": [{"url": url, "sigv4": {"region": region}}],
        },
    }


def awaited(context: Context) -> tuple[AwaitedValue, ...]:
    """The id of the workspace, which ``up.sh`` asks AWS for."""
    if not is_managed(context):
        return ()
    return (AwaitedValue(CONFIG_MAP, WORKSPACE_ID, f"prometheus.{WORKSPACE_ID}"),)
