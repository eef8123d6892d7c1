"""Where Kueue, JobSet and Trainer run: their webhooks must answer, or no job starts.

Two of each, on two nodes and in two zones where there are two, and never both drained at once. Karpenter's chart does
all of that by itself (1.14.1: two replicas, spread, a PodDisruptionBudget).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.plan.scheduling import HOSTNAME, ZONE

REPLICAS = 2
APART = (ZONE, HOSTNAME)
BUDGET = {"enabled": True, "minAvailable": 1}


def labels(chart: str, release: str, **more: str) -> dict[str, str]:
    """What a chart's Deployment selects its pods by."""
    return {"app.kubernetes.io/name": chart, "app.kubernetes.io/instance": release, **more}


def apart(pods: Mapping[str, str]) -> dict[str, Any]:
    """Away from each other where there is room. If they had to be, a rollout's third pod would fit on neither node."""
    terms = [
        {
            "weight": 100,
            "podAffinityTerm": {"topologyKey": key, "labelSelector": {"matchLabels": dict(pods)}},
        }
        for key in APART
    ]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
