"""What a launcher decides about a job; everything else is the same for every job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import ClassVar

from trainyard.core.jobs import launchers
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.retrying import job_retries
from trainyard.core.pods.plan import EnvVar, Pod, ReplicatedJob
from trainyard.language.models.base import SpecModel
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.context import Context


class Launcher:
    """How the processes of a job start and find each other.

    ``framework`` is the source of Trainer's ML policy (trainer.kubeflow.org/v1alpha1 ``mlPolicy``), with which the
    runtime's name begins. ``volumes`` are names that no other volume may have.
    """

    framework: ClassVar[str]
    volumes: ClassVar[tuple[str, ...]] = ()

    def check(self, context: Context, job: Job) -> None:
        """Report what this launcher cannot do, and keys that it ignores."""

    def check_ignored(self, context: Context, job: Job, *keys: str) -> None:
        """Warn about keys that this launcher ignores, by their paths in the job."""
        why = f"has the launcher `{self.framework}`"
        doubt_ignored(context, job, keys, why, "remove it: only other launchers use it")

    def processes(self, context: Context, job: Job, derived: int, why: str, source: str) -> int:
        """The processes of each node; ``derived``: one for each accelerator, or one."""
        return context.settle(
            job.target,
            "processesPerNode",
            job.spec.processes_per_node,
            derived,
            why,
            source,
            at=job.at / "processesPerNode",
        )

    def declared(self, processes: int) -> int | None:
        """``numProcPerNode`` of the TrainJob."""
        return processes

    def settings(self, job: Job) -> Mapping[str, str | int | bool]:
        """The fields of the ML policy."""
        return {}

    def jobs(
        self, context: Context, job: Job, pod: Pod, asked: Mapping[str, Quantity]
    ) -> tuple[ReplicatedJob, ...]:
        """The replicated jobs of the runtime, made of the pod that every node of the job has."""
        return (ReplicatedJob(at=job.at, name="node", step="trainer", pod=pod, backoff_limit=0),)

    def decisive(self, job: Job) -> tuple[str, ...]:
        """The replicated jobs whose end is that of the job; () is all of them."""
        return ()

    def restarts(self, job: Job) -> int:
        """How often all pods of the job are recreated."""
        return job_retries(job)

    def environment(self, context: Context, job: Job) -> list[EnvVar]:
        """Variables of the program that do not depend on the name of the TrainJob."""
        return []

    def rendezvous(self, context: Context, job: Job, name: str) -> list[EnvVar]:
        """Variables of the program that carry the name of the TrainJob."""
        return []

    def identity(self, job: Job) -> Mapping[str, object]:
        """What of :meth:`rendezvous` makes the job another one where it differs."""
        return {}

    def places(self, job: Job) -> Mapping[str, Route]:
        """The places in the spec of what it derives, by field of the TrainJob."""
        return {}

    def explain(self, context: Context, job: Job) -> None:
        """Derive what only ``explain`` shows."""


def doubt_ignored(context: Context, job: Job, keys: Iterable[str], why: str, help: str) -> None:
    """Warn about keys of a job that have no effect, by their paths in the job; ``why`` goes on after its name."""
    for key in keys:
        if _is_given(job.spec, key):
            context.doubt(
                "RES130",
                f"job `{job.spec.name}` {why}, for which `{key}` has no effect",
                job.at / tuple(key.split(".")),
                help,
            )


def _is_given(spec: SpecModel, key: str) -> bool:
    """Whether a spec says a key itself, by its path."""
    first, _, rest = key.partition(".")
    for name, field in type(spec).model_fields.items():
        written = field.alias or name
        if first == written and name in spec.model_fields_set:
            value = getattr(spec, name)
            return not rest or _is_given(value, rest)
    return False


_OF_RUNTIMES = {"torch-distributed": "torchrun", "jax-distributed": "jax"}
"""The launchers of jobs that name none, by the released runtime that they use."""


def launcher_of(job: Job) -> Launcher:
    """The launcher of a job: the one that it names, or that of its kind."""
    spec = job.spec
    if spec.launcher is not None:
        return launcher_named(spec.launcher.name)
    if spec.runtime is not None:
        return launcher_named(_OF_RUNTIMES[spec.runtime])
    return launcher_named(job.kind.launcher)


@cache
def launcher_named(name: str) -> Launcher:
    """The launcher of a folder."""
    module = f"{launchers.__name__}.{name}.resolve"
    launcher: Launcher = import_module(module).LAUNCHER
    return launcher
