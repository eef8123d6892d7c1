"""Binds each job to its pool, queue and namespace."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from trainyard.core.jobs import spec as spec_jobs
from trainyard.core.jobs.fallbacks import agreed
from trainyard.core.jobs.images import with_images
from trainyard.core.jobs.job import Job, Kind
from trainyard.core.jobs.keys import JobVolume
from trainyard.core.jobs.sizes import with_parameters
from trainyard.core.jobs.spec import JobsSection
from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.core.pools.spec import PoolsSection
from trainyard.core.queues.queues import Queue, resolve_queues
from trainyard.core.queues.spec import QueuesSection
from trainyard.core.storage.storages import resolve_storage
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import ALIKE, likeness, name_meant, plain
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, T, unique_names


def resolve_jobs(context: Context) -> list[Job]:
    """Every job that could be bound and is written."""
    jobs = context.once(bound_jobs)
    return [job for job in jobs if not job.waits]


def bound_jobs(context: Context) -> list[Job]:
    """Every job that could be bound."""
    pools = context.once(resolve_pools)
    queues = context.once(resolve_queues)
    declared = JobsSection.of(context.spec).jobs
    at = SPEC / "jobs"
    names = (job.name for job in declared)
    unique_names(context, "job", names, at)
    jobs = []
    for index, job in enumerate(declared):
        here = at / index
        if job.completed:  # it names what may be gone by now
            context.settle(f"job/{job.name}", "completed", True, True, "", at=here / "completed")
            continue
        if job.model is not None and (job.model.config or job.model.shape):
            job = with_parameters(context, job, here)
        _check_references(context, job, here)
        _check_mounts(context, job, here)
        _check_checkpoint(context, job, here)
        _check_expected(context, job, here)
        _check_variables(context, job, here)
        _check_names(context, job, here)
        queue = _queue(context, job, queues, here)
        kind = _kind(context, job, here)
        bound_pools = _pools(context, job, kind, pools, queue, here)
        namespace = None
        if queue:
            namespace = _namespace(context, job, queue, here)
        if queue and bound_pools and namespace and kind:
            pool = bound_pools[0]
            others = bound_pools[1:]
            used = with_images(context, job, pool, here)
            for other in others:
                with_images(context, job, other, here)
            bound = Job(
                used.job,
                here,
                pool,
                queue,
                namespace,
                kind,
                used.waits,
                used.torch,
                used.user,
                others,
            )
            _explain(context, bound)
            jobs.append(bound)
    return jobs


def _kind(context: Context, job: spec_jobs.Job, at: Route) -> Kind | None:
    """The kind that a job names, or that of the platform's jobs that name none."""
    known: Mapping[str, Kind] = context.answers.kinds()
    if job.kind is None:
        return next(iter(known.values()))
    kind = known.get(job.kind)
    if kind is None:
        context.fault(
            "RES271",
            f"{context.platform.name} runs no kind of job `{job.kind}`",
            at / "kind",
            _kind_help(job.kind, known),
        )
    return kind


def _kind_help(name: str, known: Mapping[str, Kind]) -> str:
    """The kind that was meant, or all that there are: `TFJob` is like `Job` by its end alone."""
    alike = [kind for kind in known if likeness(_stem(name), _stem(kind)) >= ALIKE]
    return name_meant(name, alike) or f"write one of {listed(known)}"


def _stem(kind: str) -> str:
    return plain(kind).removesuffix("s").removesuffix("job")


def _check_references(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """The priority and the storage that a job names are declared."""
    priorities = QueuesSection.of(context.spec).priorities
    known = {priority.name: priority for priority in priorities}
    storage = context.once(resolve_storage)
    if job.priority is not None:
        context.find("RES015", "priority", job.priority, known, at / "priority")
    for index, mount in enumerate(job.mounts):
        place = at / "mounts" / index / "storage"
        context.find("RES012", "storage", mount.storage, storage, place)


def _explain(context: Context, job: Job) -> None:
    queue = job.queue
    why_queue = "the only queue that could take it"
    if queue.implicit:
        why_queue = "the queue of its pool"
    _settle(context, job, "queue", job.spec.queue, queue.name, why_queue, follows=queue.at)
    _settle(
        context,
        job,
        "pool",
        ", ".join(job.spec.pool) if job.spec.pool else None,
        job.pool.name,
        f"the only pool of queue {queue.name}",
        follows=queue.place("quota"),
    )
    _settle(
        context,
        job,
        "namespace",
        job.spec.namespace,
        job.namespace,
        f"the only namespace of queue {queue.name}",
        follows=queue.place("namespaces"),
    )


def _settle(
    context: Context, job: Job, key: str, given: str | None, bound: str, why: str, *, follows: Route
) -> None:
    at = job.at / key
    if given is not None:
        context.given(job.target, key, given, at)
        return
    has_queues = bool(QueuesSection.of(context.spec).queues)
    context.unset(job.target, key, bound, why, at=at, follows=follows if has_queues else None)


def _check_variables(context: Context, job: spec_jobs.Job, at: Route) -> None:
    known = set(job.env)
    for index, secret in enumerate(job.secret_env):
        if secret.env in known:
            context.fault(
                "RES009",
                f"variable `{secret.env}` of job `{job.name}` is declared twice",
                at / "secretEnv" / index / "env",
                "rename or remove one of them",
            )
        known.add(secret.env)


def _check_names(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """core/v1 PodSpec: the names of volumes are unique, and those of containers."""
    volumes = [volume.name for volume in job.volumes]
    _check_unique(context, job, "volume", volumes, "dshm", at / "volumes")
    containers = [container.name for container in job.init_containers]
    _check_unique(context, job, "container", containers, "node", at / "initContainers")


def _check_unique(
    context: Context, job: spec_jobs.Job, what: str, names: list[str], reserved: str, at: Route
) -> None:
    """``reserved`` is the name of the one that every pod has."""
    known = {reserved}
    for index, name in enumerate(names):
        if name in known:
            why = "is declared twice"
            if name == reserved:
                why = "is the name of one that every pod has"
            context.fault(
                "RES009",
                f"{what} `{name}` of job `{job.name}` {why}",
                at / index / "name",
                "rename it",
            )
        known.add(name)


def _check_mounts(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """Of two mounts at one path one hides the other; in pods the API server refuses them, long after it accepted the
    job."""
    known = {"/dev/shm": "the shared memory of its programs"}
    for index, mount in enumerate(job.mounts):
        path = posixpath.normpath(mount.path)
        if path in known:
            context.fault(
                "RES031",
                f"job `{job.name}` mounts `{mount.storage}` "
                f"at `{mount.path}`, "
                f"where {known[path]} is",
                at / "mounts" / index / "path",
                "write another path",
            )
        known.setdefault(path, "another mount")


def _check_checkpoint(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """A job that cannot save, or is ended before it does for the first time, leaves nothing behind."""
    if job.checkpoint is None:
        return
    mount = mount_of(job, job.checkpoint.path)
    if mount is not None and mount.is_read_only:
        help = "save elsewhere: nothing can be written there"
        if mount.read_only:
            help = f"remove `readOnly` from the mount at `{mount.path}`, or save elsewhere"
        context.fault(
            "RES035",
            f"job `{job.name}` saves to `{job.checkpoint.path}`, which is mounted read-only",
            at / "checkpoint" / "path",
            help,
        )
    every = job.checkpoint.every
    limit = job.timeout
    if every is not None and limit is not None and every >= limit:
        context.fault(
            "RES029",
            f"job `{job.name}` is ended after {job.timeout}, before it saves for the first time",
            at / "checkpoint" / "every",
            f"save more often than every {job.timeout}, or raise `timeout`",
        )


def _check_expected(context: Context, job: spec_jobs.Job, at: Route) -> None:
    """A job that is expected to run longer than it may does not end by itself."""
    if job.expected is None or job.timeout is None or job.expected <= job.timeout:
        return
    context.fault(
        "RES380",
        f"job `{job.name}` is expected to run {job.expected}, and is ended after {job.timeout}",
        at / "expected",
        f"write at most `{job.timeout}`, or raise `timeout`",
    )


def mount_of(job: spec_jobs.Job, path: str) -> spec_jobs.Mount | JobVolume | None:
    """The mount or volume that a path lies in, the innermost of several."""
    places: list[spec_jobs.Mount | JobVolume] = []
    places += job.mounts
    places += job.volumes
    around = [place for place in places if is_under(path, place.path)]
    return max(around, default=None, key=_path_length)


def _path_length(mount: spec_jobs.Mount | JobVolume) -> int:
    return len(posixpath.normpath(mount.path))


def is_under(path: str, folder: str) -> bool:
    """Whether a path is a folder, or below it."""
    path = posixpath.normpath(path)
    folder = posixpath.normpath(folder)
    return posixpath.commonpath([path, folder]) == folder


def _queue(
    context: Context, job: spec_jobs.Job, queues: dict[str, Queue], at: Route
) -> Queue | None:
    if job.queue is not None:
        return context.find("RES016", "queue", job.queue, queues, at / "queue")
    if not QueuesSection.of(context.spec).queues:
        # Each pool has its own queue: what the job lacks is the pool.
        if job.pool:
            return queues.get(job.pool[0])
        only = ""
        if len(queues) == 1:
            only = next(iter(queues))
        return queues.get(only)
    on_pools = {name: queue for name, queue in queues.items() if _takes_pools(queue, job.pool)}
    of_team = {name: queue for name, queue in on_pools.items() if _takes_team(queue, job.namespace)}
    return _only(context, job, "queue", of_team or on_pools or queues, at)


def _takes_team(queue: Queue, namespace: str | None) -> bool:
    return namespace is None or namespace in queue.namespaces


def _takes_pools(queue: Queue, pools: list[str] | None) -> bool:
    if pools is None or not queue.quota:
        return True
    declared = [pool for pool, _, _ in queue.quota]
    names = {pool.name for pool in declared}
    return names.issuperset(pools)


def _pools(
    context: Context,
    job: spec_jobs.Job,
    kind: Kind | None,
    pools: dict[str, Pool],
    queue: Queue | None,
    at: Route,
) -> tuple[Pool, ...]:
    """The pools of a job in their order; () where one of them has a fault."""
    if job.pool is None:
        if queue is not None:
            declared = [pool for pool, _, _ in queue.quota]
            pools = {pool.name: pool for pool in declared}
        only = _only(context, job, "pool", pools, at)
        if only is None:
            return ()
        return (only,)
    if len(job.pool) == 1:
        pool = _pool(context, job.pool[0], pools, at / "pool")
        if pool is None:
            return ()
        return (pool,)

    named = [
        _pool(context, name, pools, at / "pool" / index) for index, name in enumerate(job.pool)
    ]
    known = tuple(pool for pool in named if pool is not None)
    if queue is None or kind is None or len(known) < len(named):
        return ()
    return agreed(context, job, kind, known, queue, at)


def _pool(context: Context, name: str, pools: dict[str, Pool], at: Route) -> Pool | None:
    node_pools = PoolsSection.of(context.spec).node_pools
    declared = {pool.name for pool in node_pools}
    if name in declared and name not in pools:
        return None  # the pool itself has a fault, which is reported
    return context.find("RES011", "pool", name, pools, at)


def _namespace(context: Context, job: spec_jobs.Job, queue: Queue, at: Route) -> str | None:
    known = {name: name for name in queue.namespaces}
    if job.namespace is None:
        return _only(context, job, "namespace", known, at, f"queue `{queue.name}` has")
    if job.namespace not in known:
        where = "`spec.namespaces`"
        if QueuesSection.of(context.spec).queues:
            where = "the queue's `namespaces`"
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
    """The only thing that can be meant by a job that names none."""
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    if fitting:
        count = len(fitting)
        context.fault(
            "RES017",
            f"job `{job.name}` names no {key}, and {whose} {count}",
            at,
            f"add `{key}:` with one of {listed(fitting)}",
            key=True,
        )
    return None
