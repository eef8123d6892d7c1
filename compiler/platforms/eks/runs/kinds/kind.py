"""What the kind of the object decides of a job; the launcher and all else are the same for every kind.

A TrainJob refers to a runtime. Any other kind has its pods itself: in the plan these are a runtime that is named after
the job, so that rules, history and reports read every kind alike (docs/adr/0015).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import ClassVar

from compiler.context import Context
from compiler.core.jobs import spec as spec_jobs
from compiler.core.jobs.job import Job
from compiler.core.jobs.job import Kind as RunBy
from compiler.core.jobs.launchers.launcher import launcher_of
from compiler.core.pods.plan import DOMAIN, Container, EnvVar, Pod, ReplicatedJob, merged
from compiler.places import Route
from compiler.plan.units import Quantity
from compiler.platforms.eks.runs import kinds
from compiler.platforms.eks.runs.plan import TRAIN_JOB, Runtime, TrainJob

TRAINER = "trainer"
"""The step of the pods that take the job's image, command and resources."""


class Kind(RunBy):
    """A TrainJob, and what other kinds do otherwise."""

    name: ClassVar[str] = TRAIN_JOB
    restarts_gang: ClassVar[bool] = True
    launchers: ClassVar[tuple[str, ...]] = ("torch", "mpi", "jax")
    """The launchers that it can run, by their framework."""
    retried: ClassVar[str] = "JobSet makes all pods anew so often"
    """What ``retries.job`` does."""

    elastic: ClassVar[bool] = False
    """Whether Kueue admits it with fewer nodes than it asks for."""

    def check(self, context: Context, job: Job) -> None:
        """Report what an object of this kind cannot do."""
        least = job.spec.least_nodes
        if least is not None and not self.elastic:
            context.fault(
                "RES164",
                f"job `{job.spec.name}` may have {least} to {job.spec.nodes} nodes, "
                f"and Kueue admits all pods of a {self.name} or none",
                job.at / "minNodes",
                "remove it; or write `apiGroup: batch`, for pods that do not talk to each other: some start without "
                "the others",
                source="kueue v0.19.2, features.PartialAdmission and ElasticJobsViaWorkloadSlices; trainer v2.2.0, "
                "which has no elasticPolicy",
            )

        if job.spec.roles and self.name != "JobSet":
            context.fault(
                "RES167",
                f"job `{job.spec.name}` has roles, and a {self.name} has none of its own",
                job.at / "roles",
                "write `apiGroup: jobset.x-k8s.io`",
                source="jobset.x-k8s.io/v1alpha2 replicatedJobs",
            )

    def taken(self, job: Job) -> Iterator[tuple[str, Mapping[str, Quantity]]]:
        if job.spec.initializer is not None:
            from compiler.platforms.eks.runs import initializing  # few jobs have one

            yield "its initializers ask for", initializing.asked(job)

    def host(self, job: Job, name: str) -> str:
        """The host of the first node, as every pod of the job knows it: also the first pod itself, from its start."""
        return f"{name}-node-0-0.{name}.{job.namespace}.svc.{DOMAIN}"

    def processes(self, declared: int | None) -> int | None:
        """The processes of each node, where the object has a field for them."""
        return declared

    def words(self, job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The command and the arguments of the program."""
        command = tuple(job.spec.command)
        return command, tuple(job.spec.args)

    def environment(
        self, context: Context, job: Job, name: str, processes: int
    ) -> Iterator[EnvVar]:
        """The variables that no controller of this kind sets by itself."""
        yield from ()

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """The runtime of a job, made of the one that its TrainJob would refer to."""
        return runtime

    def runtime_of(self, runtime: Runtime, job: TrainJob) -> Runtime:
        """The runtime once its job is known."""
        return runtime

    def explain(self, context: Context, job: Job) -> None:
        """Derive what only ``explain`` shows."""


class OwnPods(Kind):
    """A kind whose objects have their pods themselves."""

    restarts_gang: ClassVar[bool] = False

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        framework = launcher_of(job.spec).framework
        if framework not in self.launchers:
            named = "torchrun"
            if job.spec.launcher:
                named = job.spec.launcher.name
            context.fault(
                "RES161",
                f"job `{job.spec.name}` is a {self.name}, which has no launcher `{named}`",
                job.at / "apiGroup",
                "remove `apiGroup`, so that Trainer runs it, or take another launcher",
            )

    def runtime_of(self, runtime: Runtime, job: TrainJob) -> Runtime:
        """Named after its job; pods beside the trainer's have the program of the job, where they have none."""
        main = runtime.main
        parts = runtime.jobs
        jobs = [self.filled(part, main, job) for part in parts]
        return replace(runtime, name=job.name, namespace=job.namespace, jobs=tuple(jobs))

    def filled(self, replicated: ReplicatedJob, main: str, job: TrainJob) -> ReplicatedJob:
        """A part of the job with its program."""
        return _filled(replicated, main, job)


def _filled(replicated: ReplicatedJob, main: str, job: TrainJob) -> ReplicatedJob:
    if replicated.step == TRAINER:
        return replicated
    containers = []
    for container in replicated.pod.containers:
        if container.name == main:
            container = _program(container, job)
        containers.append(container)
    pod = replace(replicated.pod, containers=tuple(containers))
    return replace(replicated, pod=pod)


def _program(container: Container, job: TrainJob) -> Container:
    own = container.command
    return replace(
        container,
        image=container.image or job.image,
        command=own or job.command,
        args=container.args if own else job.args,
        env=merged(job.env, container.env),
        requests=job.requests,
        limits=job.limits,
        origins={**_places(job), **container.origins},
    )


def _places(job: TrainJob) -> dict[str, Route]:
    names = ("image", "command", "args", "env", "requests", "limits")
    return {name: job.where(name) for name in names}


def program_part(runtime: Runtime) -> ReplicatedJob:
    """The part that takes the program of the job: the only one, but of a launcher that the kind does not have."""
    return runtime.trainer() or runtime.jobs[0]


def renamed(pod: Pod, main: str) -> Pod:
    """A pod whose container for the program has another name."""
    containers = []
    for container in pod.containers:
        if container.name == "node":
            container = replace(container, name=main)
        containers.append(container)
    return replace(pod, containers=tuple(containers))


_MODULES = {
    "kubeflow.org": "pytorch_job",
    "jobset.x-k8s.io": "job_set",
    "batch": "plain_job",
    "ray.io": "ray_job",
}
_MPI = "mpi_job"


def kind_of(job: spec_jobs.Job) -> Kind:
    """The kind of a job's object, by the API group that it names and its launcher."""
    module = _MODULES.get(job.api_group)
    if module is None:
        return _TRAINER
    if job.api_group == "kubeflow.org":
        framework = launcher_of(job).framework
        if framework == "mpi":
            module = _MPI
    return _kind(module)


_TRAINER = Kind()


@cache
def _kind(module: str) -> Kind:
    name = f"{kinds.__name__}.{module}"
    kind: Kind = import_module(name).KIND
    return kind
