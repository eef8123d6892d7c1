"""kubeflow.org/v2beta1 MPIJob, which the MPI operator runs (v0.8.2).

The training operator has an MPIJob of its own, v1 of the same group and kind. Kueue queues v2beta1 alone (kueue
v0.19.2, pkg/controller/jobs/mpijob), and a cluster serves one of the two: that of v1 would start at once, outside every
quota.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.core.pods.plan import Container, Pod, ReplicatedJob
from trainyard.eks.jobs.bodies import Written, replica_bodies, run_policy_body
from trainyard.eks.jobs.kind import TRAINER, Ending, OwnPods
from trainyard.eks.jobs.lifting import (
    JobFields,
    Part,
    job_and_pods,
    own_runtime,
    replica_count,
    replica_parts,
    replicas,
    run_policy,
    settings_of,
)
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.jobs.run_pods import OF_MPI_JOB
from trainyard.lift.reader import Reader
from trainyard.output.lowering.body import fields_given
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context

_ROLES = {"launcher": "Launcher", "node": "Worker"}
_LAUNCHER = "Launcher"
# The volume with the keys: Trainer's name of it, and the operator's (v0.8.2, pkg/controller/mpi_job_controller.go).
_KEYS, _OPERATORS_KEYS = "mpi-ssh-auth", "ssh-auth"
_SOURCE = "mpi-operator v0.8.2, pkg/controller/mpi_job_controller.go"


class MPIJob(OwnPods):
    """The launcher, which is a node as the workers are."""

    name = kind = "MPIJob"
    place = 2
    api = "kubeflow.org/v2beta1"
    plural = "mpijobs"
    crd = "mpi-operator/v0.8.2"
    framework = "kubeflow.org/mpijob"
    operator = "mpi-operator"
    pods = (("spec", "mpiReplicaSpecs", "{}", "template", "spec"),)
    name_limit = None
    name_syntax = "dns-subdomain"
    has_peers = True
    restarts_gang = False
    launcher = "mpi"
    launchers = ("mpi",)
    run_pods = OF_MPI_JOB
    ends = Ending(("Succeeded",))  # kubeflow.org/v2beta1, JobConditionType
    retries = ("spec", "runPolicy", "backoffLimit")
    restarted = "its launcher"
    mends = "the MPI operator recreates a lost worker"
    retried = "how often the launcher is started again"

    places = {
        ("slotsPerWorker",): "processes",
        ("runPolicy", "backoffLimit"): "max_restarts",
        ("runPolicy", "activeDeadlineSeconds"): "deadline",
        ("mpiReplicaSpecs", "Worker", "replicas"): "nodes",
    }

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

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        settings = {
            name: value for name, value in runtime.settings.items() if name != "cleanPodPolicy"
        }
        spec = fields_given(
            slotsPerWorker=job.processes, **settings, runPolicy=run_policy_body(job, runtime)
        )
        return replica_bodies("mpiReplicaSpecs", spec, runtime)

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        policy = run_policy(body)
        parts = replicas(spec / "mpiReplicaSpecs")
        named = (
            "launcherCreationPolicy",
            "mpiImplementation",
            "runLauncherAsWorker",
            "sshAuthMountPath",
        )
        settings = {**settings_of(policy, "cleanPodPolicy"), **settings_of(spec, *named)}
        fields = JobFields(
            deadline=policy / "activeDeadlineSeconds",
            max_restarts=policy / "backoffLimit",
            nodes=spec.follow("mpiReplicaSpecs", "Worker", "replicas") or None,
            processes=spec / "slotsPerWorker",
        )
        yield from job_and_pods(
            body,
            own_runtime(body, self.name, self.main, parts, framework="mpi", settings=settings),
            fields,
            nodes=replica_count(parts),
            processes=(spec / "slotsPerWorker").integer(),
        )

    def parts(self, body: Reader) -> Iterator[Part]:
        return replica_parts(body)

    def explain(self, context: Context, job: Job) -> None:
        context.derive(
            job.target,
            "kind",
            self.name,
            "the MPI operator runs it, as Kueue queues no MPIJob of v1",
            "kueue v0.19.2, pkg/controller/jobs/mpijob",
        )
        context.derive(
            job.target,
            "restart",
            "restartPolicy Never, backoffLimit of the launcher",
            "the operator restarts the launcher, and recreates a lost worker",
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
