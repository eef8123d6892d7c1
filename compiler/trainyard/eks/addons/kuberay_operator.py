"""KubeRay's operator, which runs RayJobs."""

from __future__ import annotations

from typing import Any

from trainyard.eks.addons.addon import OURS, AddOn, Controller, Setting
from trainyard.eks.jobs.kinds.ray_job import KUBERAY
from trainyard.eks.jobs.wanted import operates
from trainyard.output.lowering.body import resources
from trainyard.plan.context import SPEC, Context

_CPU, _MEMORY = 100, 512
"""What its chart limits it to, which is enough for some 500 Ray pods (kuberay v1.6.2, values.yaml)."""


def wanted(context: Context) -> bool:
    """Where a job of the spec is a RayJob."""
    return operates(context, KUBERAY)


def values(setting: Setting) -> dict[str, Any]:
    """kuberay-operator 1.6.2 chart values."""
    return {"resources": resources(_CPU, _MEMORY)}


ADD_ON = AddOn(
    component=KUBERAY,
    wanted=wanted,
    at=SPEC / "jobs",
    values=values,
    # It takes its finalizer from RayJobs: without it those of earlier runs could never be deleted.
    stays=True,
    controllers=(
        Controller(
            KUBERAY, 1, _CPU, _MEMORY, OURS, resources=("resources",), replicas=("replicas",)
        ),
    ),
)
