"""Tasks, from the jobs of the spec."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.binding import bound_jobs, resolve_jobs
from trainyard.core.jobs.bounds import check_job
from trainyard.core.jobs.environment import environment
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.jobs.model import check_model
from trainyard.core.jobs.plan import SPEC_NAME
from trainyard.core.jobs.requests import processes, requests
from trainyard.core.storage.storages import resolve_storage
from trainyard.extensions.rack.tasks.kind import TASK
from trainyard.extensions.rack.tasks.plan import Task
from trainyard.plan import PlanItem
from trainyard.plan.context import Context
from trainyard.plan.scheduling import POOL_LABEL


def resolve(context: Context) -> Iterator[PlanItem]:
    """Every job."""
    storages = context.once(resolve_storage)
    for job in context.once(bound_jobs):
        check_job(context, job, storages)
        launcher_of(job).check(context, job)
    for job in context.once(resolve_jobs):
        yield from _nodes(context, job)


def _nodes(context: Context, job: Job) -> Iterator[PlanItem]:
    asked = requests(context, job)
    count = processes(context, job, asked)
    at = job.at
    yield Task(
        at=at,
        name=job.spec.name,
        namespace=job.namespace,
        kind=TASK.name,
        queue=job.queue.name,
        nodes=job.spec.nodes,
        processes=count,
        image=job.spec.image,
        command=(*job.spec.command, *job.spec.args),
        env=tuple(environment(context, job)),
        requests=asked,
        limits=asked,
        selector={POOL_LABEL: job.pool.name},
        labels={SPEC_NAME: job.spec.name},
        source_name=job.spec.name,
        pool=job.pool.name,
        origins={
            "nodes": at / "nodes",
            "image": at / "image",
            "command": at / "command",
            "requests": at / "resources",
            "limits": at / "resources",
            "queue": at / "queue",
        },
    )
    state = check_model(context, job, asked, count)
    if state is not None:
        yield state
