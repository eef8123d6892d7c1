"""kubeflow.org/v2beta1 MPIJob, which the MPI operator runs (v0.8.2).

The training operator has an MPIJob of its own, v1 of the same group and kind. Kueue queues v2beta1 alone (kueue
v0.19.2, pkg/controller/jobs/mpijob), and a cluster serves one of the two: that of v1 would start at once, outside every
quota.
"""

from __future__ import annotations

from dataclasses import replace

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.pods.plan import Container, Pod, ReplicatedJob
from compiler.platforms.eks.runs.kinds.kind import TRAINER, OwnPods
from compiler.platforms.eks.runs.plan import Runtime

_ROLES = {"launcher": "Launcher", "node": "Worker"}
_LAUNCHER = "Launcher"
# The volume with the keys: Trainer's name of it, and the operator's (v0.8.2, pkg/controller/mpi_job_controller.go).
_KEYS, _OPERATORS_KEYS = "mpi-ssh-auth", "ssh-auth"
_SOURCE = "mpi-operator v0.8.2, pkg/controller/mpi_job_controller.go"


class MPIJob(OwnPods):
    """The launcher, which is a node as the workers are."""

    name = "MPIJob"
    launchers = ("mpi",)
    retried = "the launcher is started again so often"

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """The pods of the runtime, by the operator's roles."""
        return replace(
            runtime,
            kind=self.name,
            jobs=tuple(_role(replicated, job) for replicated in runtime.jobs),
            nodes=None,
            max_restarts=runtime.max_restarts,
            restart_strategy=None,
            decisive=(),
            settings={
                "cleanPodPolicy": "Running",
                "launcherCreationPolicy": "WaitForWorkersReady",
                "mpiImplementation": "OpenMPI",
                "runLauncherAsWorker": True,
                "sshAuthMountPath": runtime.settings["sshAuthMountPath"],
            },
        )

    def explain(self, context: Context, job: Job) -> None:
        context.derive(
            job.target,
            "kind",
            self.name,
            f"apiGroup {job.spec.api_group}: the MPI operator runs it, as Kueue queues no MPIJob of v1",
            "kueue v0.19.2, pkg/controller/jobs/mpijob",
        )
        context.derive(
            job.target,
            "restart",
            "restartPolicy Never, backoffLimit of the launcher",
            "the operator starts the launcher again, and a worker that is lost anew",
            _SOURCE,
        )
        context.derive(
            job.target,
            "launcherCreationPolicy",
            "WaitForWorkersReady",
            "mpirun gives up after 10 seconds without a worker",
            _SOURCE,
        )


def _role(replicated: ReplicatedJob, job: Job) -> ReplicatedJob:
    name = _ROLES[replicated.name]
    step = None
    replicas = job.spec.nodes - 1
    if name == _LAUNCHER:
        step, replicas = TRAINER, 1
    return replace(
        replicated,
        name=name,
        step=step,
        pod=_pod(replicated.pod),
        replicas=replicas,
        backoff_limit=None,
        ready_after=(),
    )


def _pod(pod: Pod) -> Pod:
    containers = [_with_keys(container) for container in pod.init_containers]
    return replace(pod, init_containers=tuple(containers))


def _with_keys(container: Container) -> Container:
    mounts = []
    for mount in container.mounts:
        if mount.volume == _KEYS:
            mount = replace(mount, volume=_OPERATORS_KEYS)
        mounts.append(mount)
    return replace(container, mounts=tuple(mounts))


KIND = MPIJob()
