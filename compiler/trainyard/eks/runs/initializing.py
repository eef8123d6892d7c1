"""Trainer's initializers: replicated jobs that download to a shared volume before the nodes start.

An initializer writes to `/workspace/dataset` or `/workspace/model`, of the volume `initializer`, and JobSet starts the
nodes when it is complete (trainer v2.3.0, pkg/initializers, pkg/constants). Trainer's own runtimes have a new claim of
20 GiB for each job, which one node mounts. Here it is a storage that the job mounts anyway, in a folder of the job's.
"""

from __future__ import annotations

import posixpath
from dataclasses import replace

from trainyard.core.jobs.job import Job
from trainyard.core.pods.plan import Container, EnvVar, Mount, Pod, ReplicatedJob, Volume, patched
from trainyard.core.storage.storages import resolve_storage
from trainyard.eks.jobs.kinds.train_job import INITIALIZER_CPU, INITIALIZER_MEMORY
from trainyard.eks.jobs.plan import TRAIN_JOB, InitializerSource
from trainyard.eks.settings.launcher import launcher_of as pool_launcher
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.words import with_article
from trainyard.plan.context import Context

VOLUME, WORKSPACE = "initializer", "/workspace"
_IMAGE = "ghcr.io/kubeflow/trainer/{}-initializer:v{}"
_RETRIES = 3
_TOPOLOGY = "-topology"
_ANYWHERE = "kueue.x-k8s.io/podset-unconstrained-topology"
"""One pod, which needs no neighbours; without asking it gets no node of a flavor with a topology (kueue v0.19.2)."""
_SOURCE = "trainer v2.3.0, pkg/initializers"


def sources(job: Job) -> tuple[InitializerSource, ...]:
    """What the job's initializers download."""
    given = job.spec.initializer
    assert given is not None, "only asked of a job that has one"
    downloads = []
    for name, source in given.parts().items():
        own = source.env.items()
        env = [EnvVar(key, value) for key, value in own]
        downloads.append(
            InitializerSource(
                at=job.at / "initializer" / name,
                name=name,
                uri=source.storage_uri,
                secret=source.secret,
                env=tuple(env),
            )
        )
    return tuple(downloads)


def check(context: Context, job: Job) -> None:
    """Report initializers that nobody runs, or that share no volume with the nodes."""
    given = job.spec.initializer
    assert given is not None, "only asked of a job that has one"
    at = job.at / "initializer"
    kind = job.kind.name
    if kind != TRAIN_JOB:
        context.fault(
            "RES166",
            f"job `{job.spec.name}` is {with_article(kind)}, and initializers are Trainer's",
            at,
            "remove `kind`, or download in `initContainers`",
            source=_SOURCE,
        )
        return
    for index, mount in enumerate(job.spec.mounts):
        if posixpath.normpath(mount.path) == WORKSPACE:
            _taken(context, job, mount.path, "mounts", index)
    for index, volume in enumerate(job.spec.volumes):
        if posixpath.normpath(volume.path) == WORKSPACE:
            _taken(context, job, volume.path, "volumes", index)
    fitting = _fitting(context, job)
    if given.storage in fitting:
        return
    if given.storage is None and len(fitting) == 1:
        return
    place = at
    is_chosen = given.storage is not None
    help = "mount a file system of FSx for Lustre, and not read-only"
    if given.storage is not None:
        place = at / "storage"
        has = _why_not(job, given.storage)
    elif fitting:
        has = f"mounts {len(fitting)} storages that could hold what they download"
    else:
        has = "mounts no storage that they share with its nodes"
    if fitting:
        said = "write" if is_chosen else "add `storage:` with"
        help = f"{said} one of {listed(fitting)}"
    context.fault(
        "RES165",
        f"job `{job.spec.name}` has initializers, and {has}",
        place,
        help,
        key=not is_chosen,
        source=_SOURCE,
    )


def _taken(context: Context, job: Job, path: str, key: str, index: int) -> None:
    context.fault(
        "RES031",
        f"job `{job.spec.name}` mounts something at `{path}`, where its initializers write",
        job.at / key / index / "path",
        "write another path",
    )


def _why_not(job: Job, storage: str) -> str:
    for mount in job.spec.mounts:
        if mount.storage == storage:
            how = "read-only" if mount.read_only else "from a bucket, which renames no file"
            return f"mounts `{storage}` {how}"
    return f"does not mount `{storage}`"


def _fitting(context: Context, job: Job) -> list[str]:
    """The storages that the job mounts and that files can be downloaded to: hubs write to another name and then
    rename."""
    storages = context.once(resolve_storage)
    fitting = []
    for mount in job.spec.mounts:
        storage = storages.get(mount.storage)
        renames = storage is not None and storage.spec.fsx_lustre is not None
        if renames and not mount.read_only:
            fitting.append(mount.storage)
    return list(dict.fromkeys(fitting))


def _storage(context: Context, job: Job) -> str:
    given = job.spec.initializer
    assert given is not None, "only asked of a job that has one"
    fitting = _fitting(context, job)
    derived = fitting[0] if fitting else ""
    return context.settle(
        job.target,
        "initializer.storage",
        given.storage,
        derived,
        "the only storage of the job that files can be downloaded to",
        at=job.at / "initializer" / "storage",
    )


def with_initializers(
    context: Context, job: Job, replicated: tuple[ReplicatedJob, ...], pod: Pod
) -> tuple[ReplicatedJob, ...]:
    """The replicated jobs of a job, after those that download for it. ``pod`` is that of its nodes."""
    given = job.spec.initializer
    assert given is not None, "only asked of a job that has one"
    at = job.at / "initializer"
    storage = _storage(context, job)
    volume = Volume(VOLUME, "persistentVolumeClaim", storage)
    mount = Mount(VOLUME, WORKSPACE, sub_path=f"initializer-{job.spec.name}")
    names = [f"{name}-initializer" for name in given.parts()]
    version = context.version("trainer")
    first = []
    for name in given.parts():
        image = _IMAGE.format(name, version)
        part = _initializer(job, name, image, mount, volume, pod)
        first.append(part)
    _explain(context, job, storage, version)
    mounting = Pod(
        at=at, containers=(Container(at=at, name="node", mounts=(mount,)),), volumes=(volume,)
    )
    waits_for = tuple(names)
    nodes = [_after(part, waits_for, mounting) for part in replicated]
    return (*first, *nodes)


def _initializer(
    job: Job, part: str, image: str, mount: Mount, volume: Volume, pod: Pod
) -> ReplicatedJob:
    at = job.at / "initializer" / part
    name = f"{part}-initializer"
    asked = {"cpu": INITIALIZER_CPU, "memory": INITIALIZER_MEMORY}
    container = Container(
        at=at,
        name=name,
        image=image,
        requests=asked,
        limits=asked,
        mounts=(mount,),
        origins={"image": at},
    )
    # Kueue chooses a flavor for them by themselves: what keeps nodes on the job's pools must keep them there too, or a
    # node of another pool starts for a download.
    annotations = dict(pool_launcher(job.pool).protection)
    if any(key.endswith(_TOPOLOGY) for key in pod.annotations):
        annotations[_ANYWHERE] = "true"
    own = Pod(
        at=at,
        containers=(container,),
        node_selector=pod.node_selector,
        pools=pod.pools,
        excluded_nodes=pod.excluded_nodes,
        tolerations=pod.tolerations,
        volumes=(volume,),
        restart_policy="Never",
        service_account=pod.service_account,
        priority_class=pod.priority_class,
        annotations=annotations,
        pull_secrets=pod.pull_secrets,
    )
    return ReplicatedJob(at=at, name=name, step=name, pod=own, backoff_limit=_RETRIES)


def _after(part: ReplicatedJob, names: tuple[str, ...], mounting: Pod) -> ReplicatedJob:
    """A part that mounts what was downloaded, and starts after it."""
    pod = patched(part.pod, mounting)
    places = {**pod.origins, f"volumes.{VOLUME}": mounting.at}
    if part.ready_after:
        depends_on = part.depends_on
    else:
        depends_on = (*part.depends_on, *names)
    return replace(part, pod=replace(pod, origins=places), depends_on=depends_on)


def _explain(context: Context, job: Job, storage: str, version: str) -> None:
    context.derive(
        job.target,
        "initializer.volume",
        f"{storage}/initializer-{job.spec.name} at {WORKSPACE}",
        "what one pod downloads all nodes read",
        _SOURCE,
    )
    context.derive(
        job.target,
        "initializer.image",
        _IMAGE.format("‹part›", version),
        "the initializer of Trainer's version",
        f"trainer v{version}, manifests/overlays/runtimes",
    )
    context.derive(
        job.target,
        "initializer.resources",
        f"{INITIALIZER_CPU} CPUs, {INITIALIZER_MEMORY}",
        "subtracted from each node's share: Kueue counts initializers in addition to the nodes",
        "kueue v0.19.2, trainjob",
    )
