"""What the core asks of HyperPod with task governance: as of HyperPod, but that SageMaker makes the queues."""

from __future__ import annotations

from trainyard.extensions.hyperpod.answers import (
    addon_values,
    check_release,
    kinds,
    launcher,
    node_share,
    node_watch,
    nodes_export,
    own_versions,
    settle,
)
from trainyard.extensions.hyperpod.governance.admission import Governed

__all__ = [
    "addon_values",
    "admission",
    "check_release",
    "kinds",
    "launcher",
    "node_share",
    "node_watch",
    "nodes_export",
    "own_versions",
    "settle",
]

admission = Governed()
