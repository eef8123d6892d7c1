"""What a launcher decides of a job; all else is the same for every job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import ClassVar

from compiler.plan.units import Quantity
from compiler.resolve.context import Context
from compiler.source import Route
from compiler.subjects.jobs import launchers
from compiler.subjects.jobs import spec as spec_jobs
from compiler.subjects.jobs.binding import Job
from compiler.subjects.jobs.plan import EnvVar, Pod, ReplicatedJob


class Launcher:
    """How the processes of a job start and find each other.

    ``framework`` is the source of Trainer's ML policy (trainer.kubeflow.org/v1alpha1 ``mlPolicy``), with which the
    runtime's name begins. ``volumes`` are names that no other volume may have.
    """

    framework: ClassVar[str]
    volumes: ClassVar[tuple[str, ...]] = ()

    def check(self, context: Context, job: Job) -> None:
        """Report what this launcher cannot do, or does not heed."""

    def check_ignored(
        self, context: Context, job: Job, *, torch: bool, retries: bool
    ) -> None:
        """Warn of keys that only torchrun heeds."""
        spec = job.spec
        ignored = []
        if torch and spec.torch is not None:
            ignored.append(("torch", job.at / "torch"))
        if retries and "process" in spec.retries.model_fields_set:
            ignored.append(("retries.process", job.at / "retries" / "process"))
        for key, place in ignored:
            context.doubt(
                "RES120",
                f"job `{spec.name}` has the launcher `{self.framework}`, for which `{key}` has no effect",
                place,
                "remove it: only torchrun heeds it",
            )

    def processes(
        self, context: Context, job: Job, derived: int, why: str, source: str
    ) -> int:
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

    def settings(self, job: Job) -> Mapping[str, str | int | bool]:
        """What the ML policy says beside its name."""
        return {}

    def jobs(
        self, context: Context, job: Job, pod: Pod, asked: Mapping[str, Quantity]
    ) -> tuple[ReplicatedJob, ...]:
        """The replicated jobs of the runtime, made of the pod that every node of the job has."""
        return (
            ReplicatedJob(
                at=job.at, name="node", step="trainer", pod=pod, backoff_limit=0
            ),
        )

    def decisive(self, job: Job) -> tuple[str, ...]:
        """The replicated jobs whose end is that of the job; () is all of them."""
        return ()

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


_DEFAULT = "torchrun"


def launcher_of(job: spec_jobs.Job) -> Launcher:
    """The launcher of a job: the one that it names, or torchrun."""
    given = job.launcher
    return _launcher(_DEFAULT if given is None else given.name)


@cache
def _launcher(name: str) -> Launcher:
    launcher: Launcher = import_module(f"{launchers.__name__}.{name}.resolve").LAUNCHER
    return launcher
