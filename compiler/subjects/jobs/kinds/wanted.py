"""Which kinds of kubeflow.org the jobs of a spec are: their operators and Kueue's integrations are there for them."""

from __future__ import annotations

from compiler.resolve.context import Context
from compiler.subjects.jobs.spec import JobsSection

_MPI = ("mpi", "nccl_test")
KUBEFLOW = "kubeflow.org"


def runs(context: Context, kind: str) -> bool:
    """Whether a job of the spec is an object of a kind of kubeflow.org, ``PyTorchJob`` or ``MPIJob``.

    Jobs that are done count: what is left of their runs has the operator's finalizers and pods.
    """
    for job in JobsSection.of(context.spec).jobs:
        if job.api_group == KUBEFLOW:
            by_mpi = job.launcher is not None and job.launcher.name in _MPI
            if kind == ("MPIJob" if by_mpi else "PyTorchJob"):
                return True
    return False
