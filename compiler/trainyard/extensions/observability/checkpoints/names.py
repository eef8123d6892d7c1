"""The names and sizes of what watches checkpoints, and which jobs are watched."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from trainyard.core.jobs.binding import resolve_jobs
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.spec import Mount
from trainyard.core.teams.spec import NamespacesSection
from trainyard.extensions.observability.monitoring.saving import saved_to
from trainyard.language.dataclass import dataclass
from trainyard.plan.context import Context

EXPORTER = "checkpoint-exporter"
PORT = 9811
CPU, MEMORY = 5, 32
"""What it requests: an interpreter of Python that looks at a folder once in a minute or more."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A job whose saves are watched: where it mounts the storage, its folder there from the top of the storage, and the
    seconds between two saves."""

    job: Job
    mount: Mount
    folder: str
    every: int


def watched(context: Context) -> Iterator[Watched]:
    """The jobs whose saves are watched: in a namespace without a ceiling, which would count the exporters' pods against
    those of jobs."""
    bounded = with_ceiling(context)
    for job in context.once(resolve_jobs):
        saves = job.spec.checkpoint
        mount = saved_to(context, job.spec)
        if job.namespace in bounded or mount is None or saves is None or saves.every is None:
            continue
        folder = posixpath.relpath(saves.path, mount.path)
        yield Watched(job, mount, folder, saves.every.seconds)


def with_ceiling(context: Context) -> set[str]:
    """The namespaces with a ceiling over pods, CPU or memory."""
    names = set()
    for namespace in NamespacesSection.of(context.spec).namespaces:
        quota = namespace.quota
        if quota is not None and (quota.pods, quota.cpu, quota.memory) != (None, None, None):
            names.add(namespace.name)
    return names
