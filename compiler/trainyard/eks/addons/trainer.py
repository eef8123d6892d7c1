"""Kubeflow Trainer, which makes a JobSet of each TrainJob."""

from __future__ import annotations

from typing import Any

from trainyard.eks.addons.addon import AddOn, Controller, Setting
from trainyard.eks.addons.placing import REPLICAS, apart, labels
from trainyard.plan.context import SPEC

_PODS = labels(
    "kubeflow-trainer",
    "trainer",
    **{"app.kubernetes.io/part-of": "kubeflow", "app.kubernetes.io/component": "manager"},
)


def values(setting: Setting) -> dict[str, Any]:
    """kubeflow-trainer chart values (2.1.0 to 2.3.0): JobSet has its own release, runtimes are ours.

    The chart has no key for a PodDisruptionBudget, and asks for no resources.
    """
    return {
        "jobset": {"install": False},
        "runtimes": {"defaultEnabled": False},
        "dataCache": {"enabled": False},
        "manager": {"replicas": REPLICAS, "affinity": apart(_PODS)},
    }


ADD_ON = AddOn(
    component="trainer",
    at=SPEC / "jobs",
    values=values,
    after=("jobset",),
    controllers=(
        Controller(
            "trainer",
            REPLICAS,
            0,
            0,
            "trainer v2.3.0 charts/kubeflow-trainer/values.yaml",
            resources=("manager", "resources"),
            replicas=("manager", "replicas"),
        ),
    ),
    budget=_PODS,
)
