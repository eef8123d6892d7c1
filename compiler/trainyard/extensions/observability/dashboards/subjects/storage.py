"""Volumes of all namespaces: how full they are, and when they will be full."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import (
    BYTES,
    COUNT,
    SHARE,
    choice,
    graph,
    number,
    rows,
)

_NAMESPACE = '{namespace=~"$namespace"}'
_FREE = f"kubelet_volume_stats_available_bytes{_NAMESPACE}"
_SIZE = f"kubelet_volume_stats_capacity_bytes{_NAMESPACE}"
_CLAIM = "by (namespace, persistentvolumeclaim)"
_OF_CLAIM = "{{namespace}} {{persistentvolumeclaim}}"
_IN_A_DAY = f"min {_CLAIM} (predict_linear({_FREE}[6h], 86400))"


def used(selector: str) -> str:
    """What is used of volumes, in bytes."""
    size = f"kubelet_volume_stats_capacity_bytes{selector}"
    return f"{size} - kubelet_volume_stats_available_bytes{selector}"


PAGE = Page(
    "storage",
    "Storage",
    (choice("namespace", "kubelet_volume_stats_capacity_bytes", several=True),),
    rows(
        {
            "Volumes": [
                number("Volumes", COUNT, f"count(max {_CLAIM} ({_SIZE}))"),
                number("Full within a day", COUNT, f"count({_IN_A_DAY} < 0) or vector(0)"),
                number("Used", BYTES, f"sum(max {_CLAIM} ({used(_NAMESPACE)}))"),
                number("Size", BYTES, f"sum(max {_CLAIM} ({_SIZE}))"),
                graph("What is free", SHARE, f"min {_CLAIM} ({_FREE} / {_SIZE})", _OF_CLAIM),
                graph("What is used", BYTES, f"max {_CLAIM} ({used(_NAMESPACE)})", _OF_CLAIM),
                graph(
                    "Free in a day",
                    BYTES,
                    _IN_A_DAY,
                    _OF_CLAIM,
                    about="If it goes on as in the last six hours; below zero it will be full.",
                ),
            ]
        }
    ),
)
