"""A job with all that follows from its spec on any platform, settled once. Platforms render it and ask nothing back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainyard.core.jobs.binding import bound_jobs
from trainyard.core.jobs.bounds import check_job
from trainyard.core.jobs.deepspeed.resolve import with_configuration
from trainyard.core.jobs.environment import (
    CHECKPOINT_ENV,
    CHECKPOINT_EVERY_ENV,
    CHECKPOINT_KEEP_ENV,
    environment,
)
from trainyard.core.jobs.flight_recorder import VARIABLES
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.jobs.length import expected_length
from trainyard.core.jobs.model import check_model
from trainyard.core.jobs.plan import CheckpointSchedule, ExpectedLength, TrainingState
from trainyard.core.jobs.requests import processes, requests, shared_memory
from trainyard.core.jobs.saving import schedule
from trainyard.core.jobs.stopping import SIGNAL_FILE_ENV, grace
from trainyard.core.pods.plan import EnvVar
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import Context
from trainyard.plan.features import members_of_extensions
from trainyard.plan.shipped import ARITHMETIC, lacking

__all__ = ["SettledJob", "checked_jobs", "places", "settle"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledJob:
    """A bound job, and what was settled of it.

    ``asked``: the requests of one node, which are its limits too. ``processes``: those of a node. ``shared_memory``:
    the size of /dev/shm, which counts in the memory that is asked. ``environment``: all variables but those of the
    rendezvous, which carry the name of a run. ``grace``: the seconds from the signal to stop to the kill. ``state``:
    what training holds in memory; ``checkpoints``: what they take; ``length``: what the spec expects. These are
    ``None`` where the spec says nothing of them.
    """

    job: Job
    asked: Mapping[str, Quantity]
    processes: int
    shared_memory: Quantity
    environment: tuple[EnvVar, ...]
    grace: int
    state: TrainingState | None
    checkpoints: CheckpointSchedule | None
    length: ExpectedLength | None

    def items(self) -> Iterator[PlanItem]:
        """What the plan has of it on every platform."""
        for item in (self.state, self.checkpoints, self.length):
            if item is not None:
                yield item


def checked_jobs(context: Context) -> Iterator[Job]:
    """The jobs of the spec whose pool and queue are there, each when it has been checked."""
    storages = context.once(resolve_storage)
    for job in context.once(bound_jobs):
        check_job(context, job, storages)
        launcher_of(job).check(context, job)
        if job.others:
            _check_others(context, job, storages)
        yield job


def settle(context: Context, job: Job) -> SettledJob:
    """All that follows from the spec of a job, each value with its reason."""
    asked = requests(context, job)
    count = processes(context, job, asked)
    shared = shared_memory(context, job, asked["memory"], count)
    if job.spec.deepspeed is not None:
        job = with_configuration(context, job, count)
    return SettledJob(
        job=job,
        asked=asked,
        processes=count,
        shared_memory=shared,
        environment=environment(context, job),
        grace=grace(context, job),
        state=_state(context, _with_least_memory(job), asked, count),
        checkpoints=schedule(context, job, context.once(resolve_storage)),
        length=expected_length(job),
    )


def _state(
    context: Context, job: Job, asked: Mapping[str, Quantity], processes: int
) -> TrainingState | None:
    """What its model takes, with what extensions know of it (``refined`` of the modules in their ``of_jobs``)."""
    state = check_model(context, job, asked, processes)
    if state is None:
        return None
    extensions = members_of_extensions("of_jobs", "refined")
    for refined in extensions:
        state = refined(context, job, state)
    if not extensions and job.spec.model is not None and job.spec.model.batch is not None:
        context.doubt(
            "RES510",
            f"`batch` of job `{job.spec.name}` is not read: nothing here computes activations and times",
            job.at / "model" / "batch",
            lacking(ARITHMETIC),
        )
    return state


def places(job: Job) -> dict[str, Route]:
    """Where the spec says what every platform writes of a job, by the field of its item."""
    at = job.at
    found = {
        "name": at / "name",
        "namespace": at / "namespace",
        "nodes": at / "nodes",
        "processes": at / "processesPerNode",
        "image": at / "image",
        "command": at / "command",
        "args": at / "args",
        "env": at / "env",
        "requests": at / "resources",
        "limits": at / "resources",
        "queue": at / "queue",
        "priority": at / "priority",
        "deadline": at / "timeout",
        f"env.{CHECKPOINT_ENV}": at / "checkpoint" / "path",
        f"env.{CHECKPOINT_EVERY_ENV}": at / "checkpoint" / "every",
        f"env.{CHECKPOINT_KEEP_ENV}": at / "checkpoint" / "keep",
        f"env.{SIGNAL_FILE_ENV}": at / "checkpoint" / "signalFile",
        **{f"env.{name}": at / "flightRecorder" for name in VARIABLES},
        **launcher_of(job).places(job),
    }
    for name in job.spec.env:
        found[f"env.{name}"] = at / "env" / name
    for index, secret in enumerate(job.spec.secret_env):
        found[f"env.{secret.env}"] = at / "secretEnv" / index / "env"
    return found


def _with_least_memory(job: Job) -> Job:
    """The job on that of its pools whose accelerators have the least memory: its state must fit on each."""
    if not job.others:
        return job
    least = min(job.pools, key=lambda pool: pool.accelerator_memory_mib)
    return replace(job, pool=replace(least, share=job.pool.share))


def _check_others(context: Context, job: Job, storages: Mapping[str, Storage]) -> None:
    """Each of the pools that are tried later, as if the job ran there; faults of the first are not repeated."""
    known = list(context.diagnostics)
    for other in job.others:
        check_job(context, replace(job, pool=other), storages)
    added = context.diagnostics[len(known) :]
    context.diagnostics[len(known) :] = [fault for fault in added if fault not in known]
