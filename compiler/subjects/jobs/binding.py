"""Jobs: each bound to its pool, queue and namespace."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from compiler.dataclass import dataclass
from compiler.diagnostics.diagnostic import listed
from compiler.resolve.context import SPEC, Context, T, unique
from compiler.source import Route
from compiler.subjects.jobs import spec as spec_jobs
from compiler.subjects.jobs.spec import JobsSection
from compiler.subjects.pools.pools import Pool, resolve_pools
from compiler.subjects.pools.spec import PoolsSection
from compiler.subjects.queues.resolve import Queue, resolve_queues
from compiler.subjects.queues.spec import QueuesSection
from compiler.subjects.storage.resolve import resolve_storage


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the spec with its pool, queue and namespace bound."""

    spec: spec_jobs.Job
    at: Route
    pool: Pool
    queue: Queue
    namespace: str

    @property
    def target(self) -> str:
        return f"job/{self.spec.name}"


def resolve_jobs(context: Context) -> list[Job]:
    """Every job that could be bound."""
    pools = context.once(resolve_pools)
    queues = context.once(resolve_queues)
    storage = context.once(resolve_storage)
    at = SPEC / "jobs"
    unique(
        context, "job", (each.name for each in JobsSection.of(context.spec).jobs), at
    )
    known = {each.name: each for each in QueuesSection.of(context.spec).priorities}
    found = []
    for index, job in enumerate(JobsSection.of(context.spec).jobs):
        here = at / index
        if job.done:  # it names what may be gone by now
            context.settle(f"job/{job.name}", "done", True, True, "", at=here / "done")
            continue
        if job.priority is not None:
            context.find("RES015", "priority", job.priority, known, here / "priority")
        for position, mount in enumerate(job.mounts):
            context.find(
                "RES012",
                "storage",
                mount.storage,
                storage,
                here / "mounts" / position / "storage",
            )
        _check_mounts(context, job, here)
        _check_checkpoint(context, job, here)
        _check_variables(context, job, here)
        _check_names(context, job, here)
        queue = _queue(context, job, queues, here)
        pool = _pool(context, job, pools, queue, here)
        namespace = _namespace(context, job, queue, here) if queue else None
        if queue and pool and namespace:
            found.append(Job(job, here, pool, queue, namespace))
            _explain(context, found[-1])
    return found


def _explain(context: Context, job: Job) -> None:
    queue = job.queue
    why_queue = (
        "the queue of its pool"
        if queue.implicit
        else "the only queue that could take it"
    )
    for key, given, bound, why, follows in (
        ("queue", job.spec.queue, queue.name, why_queue, queue.at),
        (
            "pool",
            job.spec.pool,
            job.pool.name,
            f"the only pool of queue {queue.name}",
            queue.place("quota"),
        ),
        (
            "namespace",
            job.spec.namespace,
            job.namespace,
            f"the only namespace of queue {queue.name}",
            queue.place("namespaces"),
        ),
    ):
        context.settle(
            job.target,
            key,
            given,
            bound,
            why,
            at=job.at / key,
            follows=follows if QueuesSection.of(context.spec).queues else None,
        )


def _check_variables(context: Context, job: spec_jobs.Job, at: Route) -> None:
    known = set(job.env)
    for index, each in enumerate(job.secrets):
        if each.env in known:
            context.fault(
                "RES009",
                f"variable `{each.env}` of job `{job.name}` is declared twice",
                at / "secrets" / index / "env",
                "rename or remove one of them",
            )
        known.add(each.env)


def _check_names(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """core/v1 PodSpec: the names of volumes are unique, and those of containers."""
    for key, what, given, taken in (
        ("volumes", "volume", [each.name for each in job.volumes], "dshm"),
        (
            "initContainers",
            "container",
            [each.name for each in job.init_containers],
            "node",
        ),
    ):
        known = {taken}
        for index, name in enumerate(given):
            if name in known:
                whose = (
                    "is the name of one that every pod has"
                    if name == taken
                    else "is declared twice"
                )
                context.fault(
                    "RES009",
                    f"{what} `{name}` of job `{job.name}` {whose}",
                    at / key / index / "name",
                    "rename it",
                )
            known.add(name)


def _check_mounts(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """A pod with two mounts at one path is refused when it is made, long after its job was accepted."""
    known = {"/dev/shm"}
    for index, each in enumerate(job.mounts):
        path = posixpath.normpath(each.path)
        if path in known:
            what = (
                "the shared memory that every pod has"
                if path == "/dev/shm"
                else "another mount"
            )
            context.fault(
                "RES031",
                f"job `{job.name}` mounts `{each.storage}` at `{each.path}`, where {what} is",
                at / "mounts" / index / "path",
                "write another path",
            )
        known.add(path)


def _check_checkpoint(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """A job that cannot save, or is ended before it does for the first time, leaves nothing behind."""
    if job.checkpoint is None:
        return
    mount = mount_of(job, job.checkpoint.path)
    if mount is not None and is_read_only(mount):
        context.fault(
            "RES035",
            f"job `{job.name}` saves to `{job.checkpoint.path}`, which is mounted read-only",
            at / "checkpoint" / "path",
            f"remove `readOnly` from the mount at `{mount.path}`, or save elsewhere"
            if mount.read_only
            else "save elsewhere: nothing can be written there",
        )
    every = job.checkpoint.every
    if every is not None and job.timeout is not None and every >= job.timeout:
        context.fault(
            "RES029",
            f"job `{job.name}` is ended after {job.timeout}, before it saves for the first time",
            at / "checkpoint" / "every",
            f"save more often than every {job.timeout}, or raise `timeout`",
        )


def mount_of(
    job: spec_jobs.Job, path: str
) -> spec_jobs.Mount | spec_jobs.JobVolume | None:
    """The mount or volume that a path lies in, the innermost of several."""
    known: list[spec_jobs.Mount | spec_jobs.JobVolume] = [*job.mounts, *job.volumes]
    return max(
        (each for each in known if _under(path, each.path)),
        default=None,
        key=lambda each: len(posixpath.normpath(each.path)),
    )


def is_read_only(mount: spec_jobs.Mount | spec_jobs.JobVolume) -> bool:
    """Whether nothing can be written there: ConfigMaps and Secrets never are (Kubernetes, volumes)."""
    if mount.read_only or isinstance(mount, spec_jobs.Mount):
        return mount.read_only
    return mount.chosen in ("configMap", "secret")


def _under(path: str, folder: str) -> bool:
    folder = posixpath.normpath(folder)
    return posixpath.commonpath([posixpath.normpath(path), folder]) == folder


def _queue(
    context: Context, job: spec_jobs.Job, queues: dict[str, Queue], at: Route
) -> Queue | None:
    if job.queue is not None:
        return context.find("RES016", "queue", job.queue, queues, at / "queue")
    if not QueuesSection.of(
        context.spec
    ).queues:  # each pool has its own: what a job lacks is the pool
        only = next(iter(queues)) if len(queues) == 1 else ""
        return queues.get(job.pool or only)
    fitting = {
        name: each
        for name, each in queues.items()
        if job.pool is None
        or not each.quota
        or any(pool.name == job.pool for pool, _, _ in each.quota)
    }
    return _only(context, job, "queue", fitting or queues, at)


def _pool(
    context: Context,
    job: spec_jobs.Job,
    pools: dict[str, Pool],
    queue: Queue | None,
    at: Route,
) -> Pool | None:
    if job.pool is not None:
        if job.pool not in pools and job.pool in {
            each.name for each in PoolsSection.of(context.spec).node_pools
        }:
            return None
        return context.find("RES011", "pool", job.pool, pools, at / "pool")
    return _only(
        context,
        job,
        "pool",
        {pool.name: pool for pool, _, _ in queue.quota} if queue else pools,
        at,
    )


def _namespace(
    context: Context, job: spec_jobs.Job, queue: Queue, at: Route
) -> str | None:
    known = {each: each for each in queue.namespaces}
    if job.namespace is None:
        return _only(context, job, "namespace", known, at, f"queue `{queue.name}` has")
    if job.namespace not in known:
        where = (
            "the queue's `namespaces`"
            if QueuesSection.of(context.spec).queues
            else "`spec.namespaces`"
        )
        context.fault(
            "RES013",
            f"queue `{queue.name}` takes no jobs from namespace `{job.namespace}`",
            at / "namespace",
            f"write one of {listed(known)}, or add it to {where}",
        )
    return known.get(job.namespace)


def _only(
    context: Context,
    job: spec_jobs.Job,
    key: str,
    fitting: Mapping[str, T],
    at: Route,
    whose: str = "there are",
) -> T | None:
    """The one thing that a job can mean that does not name it."""
    if len(fitting) > 1:
        context.fault(
            "RES017",
            f"job `{job.name}` names no {key}, and {whose} {len(fitting)}",
            at,
            f"add `{key}:` with one of {listed(fitting)}",
            key=True,
        )
    return next(iter(fitting.values())) if len(fitting) == 1 else None
