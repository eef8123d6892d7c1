"""Jobs: training runtimes and TrainJobs, down to their pods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import ClassVar, NamedTuple

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import (
    Container,
    EnvVar,
    Pod,
    ReplicatedJob,
    Resources,
    _with_container,
    merged,
    patched,
)
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.base import LATER, Identity, PlanItem
from trainyard.plan.plan import Plan

TRAIN_JOB = "TrainJob"


TRAINER_CHART = "kubeflow-trainer"
_HASH = re.compile(r"-(?:[0-9a-f]{8}|[0-9a-f]{5})$")

POD_PRIORITY = "trainyard-training"
"""The PriorityClass of the pods of all jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(PlanItem):
    """trainer.kubeflow.org/v1alpha1 ClusterTrainingRuntime, or TrainingRuntime when it has a namespace.

    ``framework`` is the ML policy (torch, mpi, ...), ``settings`` what it says; ``max_restarts`` the JobSet failure
    policy's (``None``: no failure policy, which is no restart at all). ``decisive`` are the replicated jobs whose end
    is that of the whole (JobSet's successPolicy); () is all. ``kind``: that of the job whose own pods these are, where
    no object of Trainer has them (docs/adr/0015). ``main``: the container that takes the job's image, command and
    resources.
    """

    name: str
    jobs: tuple[ReplicatedJob, ...]
    namespace: str = ""
    framework: str | None = None
    nodes: int | None = None
    max_restarts: int | None = None
    restart_strategy: str | None = None
    prune: bool = True
    settings: Mapping[str, str | int | bool] = field(default_factory=dict, metadata=LATER)
    decisive: tuple[str, ...] = field(default=(), metadata=LATER)
    kind: str = field(default="", metadata=LATER)
    main: str = field(default="node", repr=False)

    @property
    def identity(self) -> Identity:
        """Without the hash of our own ones; several runtimes of one pool share it."""
        return Identity("Runtime", self.namespace, _HASH.sub("", self.name))

    def trainer(self) -> ReplicatedJob | None:
        """The replicated job that takes the TrainJob's trainer values."""
        for job in self.jobs:
            if job.step == "trainer":
                return job
        return None

    def job(self, name: str) -> ReplicatedJob | None:
        """The replicated job of a name."""
        for job in self.jobs:
            if job.name == name:
                return job
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch(PlanItem):
    """What a TrainJob changes in one replicated job's pods (runtimePatches, or podTemplateOverrides)."""

    job: str
    pod: Pod
    manager: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializerSource(PlanItem):
    """What an initializer of a TrainJob downloads: ``name`` is ``dataset`` or ``model``.

    The keys of ``secret`` are variables of it.
    """

    name: str
    uri: str | None = None
    secret: str | None = None
    env: tuple[EnvVar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainJob(Gang):
    """trainer.kubeflow.org/v1alpha1 TrainJob, or a job of another ``kind``, whose ``runtime`` is its own pods.

    ``trainer`` says whether ``spec.trainer`` is there at all; without it no PET_* variable is injected. ``patched`` are
    the patches of the spec that change what it runs, by their places.
    """

    has_pods: ClassVar[bool] = True

    namespace: str
    runtime: str
    runtime_kind: str = "ClusterTrainingRuntime"
    trainer: bool = True
    patches: tuple[Patch, ...] = ()
    suspend: bool | None = None
    managed_by: str | None = None
    prune: bool = True
    kind: str = TRAIN_JOB
    initializers: tuple[InitializerSource, ...] = ()
    patched: tuple[Route, ...] = field(default=(), compare=False)


class RunPods(NamedTuple):
    """Pods of a run that are alike: how many, and what each asks for."""

    number: int
    asks: Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingRun(PlanItem):
    """A run that is in the cluster already, by what is committed. ``left``: the spec no longer asks for it, and it goes
    on: then ``pods`` says what it holds, as far as that was noted. ``pools``: those that it may be on."""

    carried: ClassVar[bool] = False

    name: str
    namespace: str
    job: str
    queue: str = ""
    priority: str = ""
    pools: tuple[str, ...] = ()
    left: bool = False
    pods: tuple[RunPods, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator(PlanItem):
    """The operator of a kind of jobs that is installed in another way than by Flux; ``name`` is what the kind says."""

    carried: ClassVar[bool] = False

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSet(PlanItem):
    """An immutable ConfigMap with files of jobs: texts by key. ``prune`` off keeps it as long as a run may mount it."""

    name: str
    namespace: str
    files: Mapping[str, str]
    prune: bool = True

    @property
    def identity(self) -> Identity:
        """Its name is its content."""
        return Identity("FileSet", self.namespace, "files")


def runtime_of(plan: Plan, job: Gang) -> Runtime | None:
    """The runtime that a job refers to."""
    if not isinstance(job, TrainJob):
        return None
    has_own = job.runtime_kind in ("TrainingRuntime", job.kind)
    namespace = job.namespace if has_own else ""
    return plan.named(Runtime, job.runtime, namespace)


def effective_pod(job: TrainJob, runtime: Runtime, *, merge_resources: bool = True) -> Pod | None:
    """The pod of the ``trainer`` job as Trainer will make it: runtime, then trainer, then patches in order.

    ``None`` where the runtime has no job for the trainer. Rules as observed on Trainer 2.3.0 (env by name,
    resources merged by name, node selectors merged, tolerations replaced as a whole, volumes and mounts merged
    by name); before 2.3 ``resourcesPerNode`` replaced the runtime's resources (``merge_resources=False``).
    """
    replicated = runtime.trainer()
    if replicated is None:
        return None
    pod = replicated.pod
    main = pod.container(runtime.main)
    if main is not None and job.trainer:
        pod = _with_container(pod, _trained(main, job, merge_resources=merge_resources))
    for patch in job.patches:
        if patch.job == replicated.name:
            pod = patched(pod, patch.pod)
    return pod


def _trained(main: Container, job: TrainJob, *, merge_resources: bool) -> Container:
    requests, limits = job.requests, job.limits
    if merge_resources or not (requests or limits):
        requests = {**main.requests, **requests}
        limits = {**main.limits, **limits}
    return replace(
        main,
        image=job.image or main.image,
        command=job.command or main.command,
        args=job.args or main.args,
        env=merged(main.env, job.env),
        requests=requests,
        limits=limits,
    )


def patches_of(job: Gang) -> tuple[Patch, ...]:
    """What a job changes in the pods of a runtime that it refers to."""
    if isinstance(job, TrainJob):
        return job.patches
    return ()
