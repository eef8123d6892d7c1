"""Which kinds with an operator the jobs of a spec are: the operators and Kueue's integrations are there for them."""

from __future__ import annotations

from compiler.context import Context
from compiler.core.jobs.spec import JobsSection

_MPI = ("mpi", "nccl_test")
KUBEFLOW, RAY = "kubeflow.org", "ray.io"
KUBERAY = "kuberay-operator"
"""The operator of Ray: its component, chart, and the name that its pods have as a label (kuberay v1.6.2, chart)."""
DASHBOARD = 8265
"""The port of Ray's dashboard, which takes jobs (kuberay v1.6.2, DefaultDashboardPort)."""


def runs(context: Context, kind: str) -> bool:
    """Whether a job of the spec is an object of a kind: ``PyTorchJob``, ``MPIJob`` or ``RayJob``.

    Jobs that are done count: what is left of their runs has the operator's finalizers and pods.
    """
    for job in JobsSection.of(context.spec).jobs:
        if job.api_group == RAY and kind == "RayJob":
            return True
        if job.api_group == KUBEFLOW:
            launcher = job.launcher
            by_mpi = launcher is not None and launcher.name in _MPI
            if kind == ("MPIJob" if by_mpi else "PyTorchJob"):
                return True
    return False
