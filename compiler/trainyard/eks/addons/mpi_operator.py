"""The MPI operator, which runs MPIJobs of kubeflow.org/v2beta1. It has no chart."""

from __future__ import annotations

from trainyard.eks.addons.addon import KUSTOMIZE, OURS, AddOn, Controller
from trainyard.eks.jobs.wanted import operates
from trainyard.plan.context import SPEC, Context

COMPONENT = "mpi-operator"
_CPU, _MEMORY = 100, 128

_DEPLOYMENT = f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: mpi-operator
spec:
  template:
    spec:
      containers:
      - name: mpi-operator
        resources:
          requests:
            cpu: {_CPU}m
            memory: {_MEMORY}Mi
"""


def wanted(context: Context) -> bool:
    """Where a job of the spec is an MPIJob."""
    return operates(context, COMPONENT)


ADD_ON = AddOn(
    component=COMPONENT,
    by=KUSTOMIZE,
    wanted=wanted,
    at=SPEC / "jobs",
    patches=(_DEPLOYMENT,),
    controllers=(Controller(COMPONENT, 1, _CPU, _MEMORY, OURS),),
)
