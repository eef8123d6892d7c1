"""JobSet, which makes the pods of a job and restarts them together."""

from __future__ import annotations

from typing import Any

from trainyard.eks.addons.addon import AddOn, Controller, Setting
from trainyard.eks.addons.placing import BUDGET, REPLICAS, apart, labels
from trainyard.plan.context import SPEC


def values(setting: Setting) -> dict[str, Any]:
    """jobset 0.12.0 chart values."""
    pods = labels("jobset", "jobset", **{"app.kubernetes.io/component": "controller"})
    return {
        "controller": {
            "replicas": REPLICAS,
            "podDisruptionBudget": dict(BUDGET),
            "affinity": apart(pods),
        }
    }


ADD_ON = AddOn(
    component="jobset",
    at=SPEC / "jobs",
    values=values,
    controllers=(
        Controller(
            "jobset",
            REPLICAS,
            500,
            128,
            "jobset v0.12.0 charts/jobset/values.yaml",
            resources=("controller", "resources"),
            replicas=("controller", "replicas"),
        ),
    ),
)
