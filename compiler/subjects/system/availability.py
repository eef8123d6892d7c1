"""Controllers that nothing works without: Kueue, JobSet and Trainer, whose webhooks refuse while nobody answers.

Two of each, on two nodes and in two zones where there are two, and never both drained at once. Karpenter's chart does
all of that by itself (1.14.1: two replicas, spread, a PodDisruptionBudget).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.resolve.context import SPEC, Context
from compiler.subjects.namespaces.plan import DisruptionBudget
from compiler.subjects.pools.plan import HOSTNAME, ZONE

REPLICAS = 2
_APART = (ZONE, HOSTNAME)
_BUDGET = {"enabled": True, "minAvailable": 1}


def kueue() -> dict[str, Any]:
    """``controllerManager`` of kueue's chart (0.16.0 to 0.19.2)."""
    pods = _labels("kueue", "kueue", **{"control-plane": "controller-manager"})
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": dict(pods)},
        }
        for key in _APART
    ]
    return {
        "replicas": REPLICAS,
        "podDisruptionBudget": dict(_BUDGET),
        "topologySpreadConstraints": spread,
    }


def jobset() -> dict[str, Any]:
    """``controller`` of jobset's chart (0.12.0)."""
    pods = _labels("jobset", "jobset", **{"app.kubernetes.io/component": "controller"})
    return {
        "replicas": REPLICAS,
        "podDisruptionBudget": dict(_BUDGET),
        "affinity": _apart(pods),
    }


def trainer() -> dict[str, Any]:
    """``manager`` of kubeflow-trainer's chart (2.1.0 to 2.3.0), which has no key for a budget."""
    return {"replicas": REPLICAS, "affinity": _apart(_trainer_pods())}


def disruption_budgets(context: Context) -> tuple[DisruptionBudget, ...]:
    """The budget that a chart does not make."""
    namespace = context.release.charts["trainer"].namespace
    return (
        DisruptionBudget(
            at=SPEC / "jobs",
            name="trainer",
            namespace=namespace,
            pods=_trainer_pods(),
            available=1,
        ),
    )


def _trainer_pods() -> dict[str, str]:
    return _labels(
        "kubeflow-trainer",
        "trainer",
        **{
            "app.kubernetes.io/part-of": "kubeflow",
            "app.kubernetes.io/component": "manager",
        },
    )


def _labels(chart: str, release: str, **more: str) -> dict[str, str]:
    """What a chart's Deployment selects its pods by."""
    return {
        "app.kubernetes.io/name": chart,
        "app.kubernetes.io/instance": release,
        **more,
    }


def _apart(pods: Mapping[str, str]) -> dict[str, Any]:
    """Away from each other where there is room. If they had to be, a rollout's third pod would fit on neither node."""
    terms = [
        {
            "weight": 100,
            "podAffinityTerm": {
                "topologyKey": key,
                "labelSelector": {"matchLabels": dict(pods)},
            },
        }
        for key in _APART
    ]
    return {
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}
    }
