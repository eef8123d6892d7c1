"""The training operator, which runs PyTorchJobs of clusters that are not on Trainer 2 yet. It has no chart."""

from __future__ import annotations

from trainyard.eks.addons.addon import KUSTOMIZE, OURS, AddOn, Controller
from trainyard.eks.jobs.wanted import operates
from trainyard.plan.context import SPEC, Context

COMPONENT = "training-operator"
_CPU, _MEMORY = 100, 256

# Its MPIJob is of the same group and kind as that of the MPI operator, and a cluster serves one of the two.
_NO_MPI_JOB = """\
$patch: delete
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: mpijobs.kubeflow.org
"""
# All of its controllers start unless some are named (v1.9.4, cmd/training-operator.v1/main.go).
_DEPLOYMENT = f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: training-operator
spec:
  template:
    spec:
      containers:
      - name: training-operator
        args:
        - --enable-scheme=pytorchjob
        resources:
          requests:
            cpu: {_CPU}m
            memory: {_MEMORY}Mi
"""


def wanted(context: Context) -> bool:
    """Where a job of the spec is a PyTorchJob."""
    return operates(context, COMPONENT)


ADD_ON = AddOn(
    component=COMPONENT,
    by=KUSTOMIZE,
    wanted=wanted,
    at=SPEC / "jobs",
    patches=(_NO_MPI_JOB, _DEPLOYMENT),
    controllers=(Controller(COMPONENT, 1, _CPU, _MEMORY, OURS),),
)
