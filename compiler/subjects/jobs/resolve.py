"""Jobs: from ten lines to a runtime and a TrainJob with everything said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from compiler.plan import PlanNode
from compiler.plan.base import content
from compiler.plan.units import Quantity
from compiler.resolve.context import Context
from compiler.source import Route
from compiler.subjects.delivery.stages import stage
from compiler.subjects.jobs.binding import Job, resolve_jobs
from compiler.subjects.jobs.bounds import check_job
from compiler.subjects.jobs.environment import (
    CHECKPOINT_ENV,
    CHECKPOINT_EVERY_ENV,
    DOMAIN,
    PORT,
    RENDEZVOUS_SECONDS,
    environment,
    rendezvous,
)
from compiler.subjects.jobs.model import check_model
from compiler.subjects.jobs.mounts import mounted
from compiler.subjects.jobs.plan import (
    Container,
    EnvVar,
    FileSet,
    Mount,
    Patch,
    Pod,
    ReplicatedJob,
    Runtime,
    TrainingState,
    TrainJob,
    Volume,
)
from compiler.subjects.jobs.requests import processes, requests, shared_memory
from compiler.subjects.jobs.spec import JobsSection
from compiler.subjects.jobs.stopping import (
    SHUTDOWN_TIMEOUT,
    SIGNAL_FILE_ENV,
    grace,
    pre_stop,
)
from compiler.subjects.jobs.volumes import (
    file_set,
    files_volume,
    free,
    mounts_of,
    needs,
    volumes_of,
)
from compiler.subjects.pools.plan import RESERVATION_LABEL
from compiler.subjects.queues.topology import LEVELS, preferred_level
from compiler.subjects.storage.resolve import resolve_storage

SERVICE_ACCOUNT = "training"
POD_PRIORITY = "trainyard-training"
MANAGER = "trainyard.dev/compiler"
JOB_LABEL = "trainyard.dev/job"
_SHM = "dshm"


def resolve(context: Context) -> Iterator[PlanNode]:
    """Every job with the runtime that it refers to, its volumes, and the stage that carries jobs."""
    jobs = context.once(resolve_jobs)
    storages = context.once(resolve_storage)
    for job in jobs:
        check_job(context, job, storages)
    made = [train_job(context, job) for job in jobs]
    runtimes = {each.runtime.name: each.runtime for each in reversed(made)}
    yield from runtimes.values()
    files = {
        (each.files.namespace, each.files.name): each.files
        for each in reversed(made)
        if each.files
    }
    yield from files.values()
    for each in made:
        _needs_secrets(context, each.job)
        yield each.job
    for each in made:
        if each.state is not None:
            yield each.state
    for job in jobs:
        _needs_others(context, job)
    yield from mounted(context, jobs)
    if jobs:
        # A job that runs for a week is healthy all the while: nothing waits for it.
        yield stage(context, "jobs", "queues", wait=False)


def _needs_secrets(context: Context, job: TrainJob) -> None:
    for variable in job.env:
        if variable.secret:
            context.external.add(("v1", "Secret", job.namespace, variable.secret))


def _needs_others(context: Context, job: Job) -> None:
    """What the job names and others make: a reviewer sees it in the report."""
    account = job.spec.service_account
    if account:
        context.external.add(("v1", "ServiceAccount", job.namespace, account))
    for secret in job.spec.image_pull_secrets:
        context.external.add(("v1", "Secret", job.namespace, secret))
    needs(context, job)


def runtime(
    context: Context,
    job: Job,
    shared: Quantity,
    asked: dict[str, Quantity],
    files: FileSet | None,
) -> Runtime:
    """The versioned runtime of a job: its name carries a hash of its content, so it never changes under a job."""
    pool, spec = job.pool, job.spec
    placed = _topology(job)
    annotations = {"karpenter.sh/do-not-disrupt": "true", **placed, **spec.annotations}
    places = {key: job.at / "annotations" / key for key in spec.annotations}
    if spec.topology is not None:
        places.update((key, job.at / "topology") for key in placed)
    pod = Pod(
        at=job.at,
        containers=(_container(context, job, files),),
        init_containers=_before(context, job, asked, files),
        node_selector=pool.selector,
        tolerations=pool.tolerations,
        volumes=(
            Volume(_SHM, "emptyDir", medium="Memory", size=shared),
            *volumes_of(job, files, _SHM),
        ),
        restart_policy="Never",
        grace_seconds=grace(context, job),
        service_account=_account(context, job),
        priority_class=POD_PRIORITY,
        annotations=annotations,
        excluded_nodes=tuple(spec.exclude_nodes),
        pull_secrets=tuple(spec.image_pull_secrets),
        origins={
            **{f"annotations.{key}": place for key, place in places.items()},
            "excluded_nodes": job.at / "excludeNodes",
            "pull_secrets": job.at / "imagePullSecrets",
            "tolerations": pool.at / "taints",
            "volumes": job.at / "sharedMemory",
            **_volume_places(job, files),
            "init_containers": job.at / "initContainers",
            "node_selector": job.at / "pool",
            "grace_seconds": job.at / "gracePeriod",
            "service_account": job.at / "serviceAccount",
        },
    )
    node = ReplicatedJob(
        at=job.at, name="node", step="trainer", pod=pod, backoff_limit=0
    )
    found = Runtime(
        at=job.at,
        name="",
        jobs=(node,),
        framework="torch",
        nodes=1,
        max_restarts=spec.retries.job,
        restart_strategy="Recreate",
        prune=False,
        origins={"max_restarts": job.at / "retries" / "job"},
    )
    name = f"torch-{pool.name}"[:48].rstrip("-")
    return replace(found, name=f"{name}-{_digest(found)}")


def _volume_places(job: Job, files: FileSet | None) -> dict[str, Route]:
    places = {
        f"volumes.{volume.name}": job.at / "volumes" / index
        for index, volume in enumerate(job.spec.volumes)
    }
    if files is not None:
        places[f"volumes.{files_volume(job, _SHM)}"] = job.at / "files"
    return places


def _before(
    context: Context, job: Job, asked: dict[str, Quantity], files: FileSet | None
) -> tuple[Container, ...]:
    """The init containers of a pod.

    Each asks for the CPU and memory of the program: a pod asks for the most of any of them (Kubernetes, init
    containers), so this costs nothing, and a namespace with a ResourceQuota takes no container without requests.
    """
    share = {name: asked[name] for name in ("cpu", "memory")}
    found = []
    for index, each in enumerate(job.spec.init_containers):
        at = job.at / "initContainers" / index
        context.settle(
            job.target,
            f"initContainers.{each.name}.image",
            each.image,
            job.spec.image,
            "the image of the job",
            at=at / "image",
        )
        found.append(
            Container(
                at=at,
                name=each.name,
                image=each.image or job.spec.image,
                command=tuple(each.command),
                args=tuple(each.args),
                env=tuple(EnvVar(key, value) for key, value in each.env.items()),
                requests=share,
                limits=share,
                mounts=mounts_of(job, files, _SHM),
                origins={
                    "image": at / "image",
                    "command": at / "command",
                    "args": at / "args",
                    "env": at / "env",
                },
            )
        )
    return tuple(found)


def _container(context: Context, job: Job, files: FileSet | None) -> Container:
    return Container(
        at=job.at,
        name="node",
        mounts=(Mount(_SHM, "/dev/shm"), *mounts_of(job, files, _SHM)),
        pre_stop=pre_stop(context, job),
        working_dir=job.spec.working_dir or "",
        origins={
            "pre_stop": job.at / "checkpoint" / "signalFile",
            "working_dir": job.at / "workingDir",
        },
    )


def _account(context: Context, job: Job) -> str:
    return context.settle(
        job.target,
        "serviceAccount",
        job.spec.service_account,
        SERVICE_ACCOUNT,
        "an account without rights or token: training needs none",
        at=job.at / "serviceAccount",
    )


def _digest(node: object) -> str:
    return hashlib.sha256(content(node).encode()).hexdigest()[:8]


class Made(NamedTuple):
    """The TrainJob of a job, the runtime that it refers to, its files, and what its model takes."""

    job: TrainJob
    runtime: Runtime
    files: FileSet | None
    state: TrainingState | None


def train_job(context: Context, job: Job) -> Made:
    """Everything that is made of a job."""
    spec, at = job.spec, job.at
    asked = requests(context, job)
    count = processes(context, job, asked)
    shared = shared_memory(context, job, asked["memory"], count)
    files = file_set(job)
    ran = runtime(context, job, shared, asked, files)
    state = check_model(context, job, asked, count)
    _check_deadline(context, job)
    env, patches = environment(context, job), _patches(context, job)
    name = f"{spec.name}-{_identity(job, asked, count, ran, env)}"
    context.derive(
        job.target, "name", name, "carries a hash of all that would force a new run"
    )
    context.derive(
        job.target,
        "runtime",
        ran.name,
        "a runtime that changes under a job restarts it: named by content",
    )
    _explain(context, job)
    made = TrainJob(
        at=at,
        name=name,
        namespace=job.namespace,
        runtime=ran.name,
        queue=job.queue.name,
        priority=spec.priority,
        nodes=spec.nodes,
        processes=count,
        image=spec.image,
        command=tuple(spec.command),
        args=tuple(spec.args),
        env=(*env, *rendezvous(context, job, name)),
        requests=asked,
        limits=asked,
        patches=patches,
        prune=False,
        deadline=spec.timeout.seconds if spec.timeout else None,
        labels={
            **JobsSection.of(context.spec).labels,
            **spec.labels,
            JOB_LABEL: spec.name,
        },
        source_name=spec.name,
        pool=job.pool.name,
        rerun=spec.rerun,
        annotations=dict(spec.annotations),
        origins={
            "annotations": at / "annotations",
            "nodes": at / "nodes",
            "image": at / "image",
            "command": at / "command",
            "args": at / "args",
            "env": at / "env",
            "requests": at / "resources",
            "limits": at / "resources",
            "patches": at / "mounts",
            "queue": at / "queue",
            "priority": at / "priority",
            "deadline": at / "timeout",
            "name": at / "name",
            "processes": at / "processesPerNode",
            "namespace": at / "namespace",
            "runtime": at / "pool",
            f"env.{CHECKPOINT_ENV}": at / "checkpoint" / "path",
            f"env.{CHECKPOINT_EVERY_ENV}": at / "checkpoint" / "every",
            f"env.{SIGNAL_FILE_ENV}": at / "checkpoint" / "signalFile",
            f"env.{SHUTDOWN_TIMEOUT}": at / "torch",
            **{f"env.{name}": at / "env" / name for name in spec.env},
            **{
                f"env.{each.env}": at / "secrets" / index / "env"
                for index, each in enumerate(spec.secrets)
            },
        },
    )
    return Made(made, ran, files, state)


def _check_deadline(context: Context, job: Job) -> None:
    version = context.version("trainer")
    # spec.activeDeadlineSeconds of a TrainJob came with Trainer 2.2.0 (kubeflow/trainer#3258).
    if job.spec.timeout is not None and version.startswith("2.1."):
        context.fault(
            "RES028",
            f"job `{job.spec.name}` has a timeout, and Trainer `{version}` knows none",
            job.at / "timeout",
            "remove it, or take Trainer 2.2 or newer",
        )


def _identity(
    job: Job,
    asked: dict[str, Quantity],
    count: int,
    ran: Runtime,
    env: tuple[EnvVar, ...],
) -> str:
    """Five hex digits over everything that cannot change in a TrainJob that exists (CEL of Trainer 2.3.0)."""
    spec = job.spec
    content = {
        "image": spec.image,
        "command": spec.command,
        "args": spec.args,
        "nodes": spec.nodes,
        "env": [(each.name, each.value, each.secret, each.key) for each in env],
        "rendezvous": [DOMAIN, PORT, RENDEZVOUS_SECONDS, spec.retries.process],
        "mounts": [(each.storage, each.path, each.read_only) for each in spec.mounts],
        "asked": {key: value.milli for key, value in asked.items()},
        "processes": count,
        "runtime": ran.name,
        "queue": job.queue.name,
        "namespace": job.namespace,
        "priority": spec.priority,
        "rerun": spec.rerun,
        "timeout": spec.timeout.seconds if spec.timeout else None,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:5]


def _explain(context: Context, job: Job) -> None:
    target, pool, retries = job.target, job.pool, job.spec.retries
    context.derive(
        target,
        "zone",
        ", ".join(pool.zones),
        f"pool {pool.name} is there",
        follows=pool.at,
    )
    context.derive(
        target,
        "tolerations",
        ", ".join(map(str, pool.taints)),
        f"the taints of pool {pool.name}",
        follows=pool.at,
    )
    for name, why in _RESTARTS.items():
        value = getattr(retries, name)
        given = value if name in retries.model_fields_set else None
        context.settle(
            target, f"retries.{name}", given, value, why, at=job.at / "retries" / name
        )
    context.derive(
        target,
        "restart",
        "restartPolicy Never, backoffLimit 0",
        "a lost rank hangs the others: every failure passes to JobSet, which makes all pods anew",
        "jobset.x-k8s.io/v1alpha2 failurePolicy",
    )
    context.derive(
        target,
        "disruption",
        "karpenter.sh/do-not-disrupt",
        "a node that is emptied to save money would end the whole gang",
        "karpenter.sh/v1, v1.14.1",
    )
    context.derive(
        target,
        "priorityClass",
        POD_PRIORITY,
        "above best-effort pods, never preempting: Kueue decides",
    )
    level, given = _level(job), job.spec.topology
    if level is not None or given is not None:
        by = "reservation" if level == RESERVATION_LABEL else "EC2's network layers"
        context.settle(
            target,
            "topology",
            f"{given.chosen} {given.level}" if given else None,
            level,
            f"pool {pool.name} is placed by {by}",
            "kueue.x-k8s.io/podset-preferred-topology",
            at=job.at / "topology",
        )


_RESTARTS = {
    "process": "torchrun starts lost processes anew in place, before the whole gang is",
    "job": "JobSet makes all pods anew so often",
}


def _level(job: Job) -> str | None:
    """The level of the topology that a gang is kept in where it fits."""
    return preferred_level(job.pool) if job.spec.nodes > 1 else None


def _topology(job: Job) -> dict[str, str]:
    """The annotation by which Kueue places the pods (kueue v0.19.2, apis/kueue/v1beta2 topology_types.go)."""
    given = job.spec.topology
    if given is not None:
        return {f"kueue.x-k8s.io/podset-{given.chosen}-topology": LEVELS[given.level]}
    level = _level(job)
    return {} if level is None else {PREFERRED_TOPOLOGY: level}


PREFERRED_TOPOLOGY = "kueue.x-k8s.io/podset-preferred-topology"


def _patches(context: Context, job: Job) -> tuple[Patch, ...]:
    mounts = job.spec.mounts
    if not mounts:
        return ()
    names = _volume_names(job)
    at = job.at / "mounts"
    mounted = tuple(
        Mount(name, each.path, each.read_only)
        for name, each in zip(names, mounts, strict=True)
    )
    before = [each.name for each in job.spec.init_containers]
    pod = Pod(
        at=at,
        containers=(Container(at=at, name="node", mounts=mounted),),
        init_containers=tuple(
            Container(at=at, name=name, mounts=mounted) for name in before
        ),
        volumes=tuple(
            Volume(name, "persistentVolumeClaim", each.storage)
            for name, each in zip(names, mounts, strict=True)
        ),
    )
    # podTemplateOverrides, the form before 2.2, name no manager.
    named = context.release.has("trainer.runtimePatches", context.version("trainer"))
    return (
        Patch(
            at=job.at / "mounts", job="node", pod=pod, manager=MANAGER if named else ""
        ),
    )


def _volume_names(job: Job) -> list[str]:
    """A volume for each mount: Trainer's patches mount each just once (list key `name`). Others are the runtime's."""
    taken = [_SHM, *(each.name for each in job.spec.volumes)]
    if job.spec.files:
        taken.append(files_volume(job, _SHM))
    found: list[str] = []
    for mount in job.spec.mounts:
        found.append(free(mount.storage, [*taken, *found]))
    return found
