"""Jobs: from ten lines to a runtime and a TrainJob with everything said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from compiler.catalog.runtimes import image_of
from compiler.context import Context
from compiler.core.jobs.binding import bound_jobs, has_peers, resolve_jobs
from compiler.core.jobs.bounds import check_job
from compiler.core.jobs.environment import (
    CHECKPOINT_ENV,
    CHECKPOINT_EVERY_ENV,
    CHECKPOINT_KEEP_ENV,
    environment,
)
from compiler.core.jobs.job import Job
from compiler.core.jobs.launchers.launcher import launcher_of
from compiler.core.jobs.model import check_model
from compiler.core.jobs.plan import TrainingState
from compiler.core.jobs.requests import pods_a_node, processes, requests, shared_memory
from compiler.core.jobs.saving import schedule
from compiler.core.jobs.spec import JobsSection
from compiler.core.jobs.stopping import SIGNAL_FILE_ENV, grace, pre_stop
from compiler.core.pods.plan import (
    INITIALIZERS,
    Container,
    EnvVar,
    Mount,
    Pod,
    ReplicatedJob,
    Volume,
    patched,
)
from compiler.core.pools.topology import LEVELS, preferred_level, topology_name
from compiler.core.storage.storages import Storage, resolve_storage
from compiler.places import Route
from compiler.plan import PlanNode
from compiler.plan.base import content
from compiler.plan.scheduling import RESERVATION_LABEL, Requirement
from compiler.plan.units import Quantity
from compiler.platforms.eks.runs.fallbacks import all_tolerations, is_mixed, one_pod_set, pool_terms
from compiler.platforms.eks.runs.kinds.kind import kind_of
from compiler.platforms.eks.runs.mounts import mounted
from compiler.platforms.eks.runs.owning import group_of_volumes, owners
from compiler.platforms.eks.runs.plan import (
    TRAIN_JOB,
    FileSet,
    InitializerSource,
    Patch,
    Runtime,
    TrainJob,
)
from compiler.platforms.eks.runs.volumes import (
    file_set,
    files_volume,
    free,
    mounts_of,
    needs,
    volumes_of,
)
from compiler.platforms.eks.settings.spec import ClusterSection

SERVICE_ACCOUNT = "training"
POD_PRIORITY = "trainyard-training"
MANAGER = "trainyard.dev/compiler"
JOB_LABEL = "trainyard.dev/job"
_SHM = "dshm"


def resolve(context: Context) -> Iterator[PlanNode]:
    """Every job with the runtime that it refers to, its volumes, and the stage that carries jobs."""
    storages = context.once(resolve_storage)
    bound = context.once(bound_jobs)
    for job in bound:
        check_job(context, job, storages)
        if ClusterSection.of(context.spec).auto_mode is not None:
            from compiler.platforms.eks.runs.auto_mode import check_life  # few clusters have it

            check_life(context, job)
        launcher_of(job.spec).check(context, job)
        if job.others:
            check_others(context, job, storages)
        kind_of(job.spec).check(context, job)
        if job.spec.initializer is not None:
            from compiler.platforms.eks.runs import initializing  # few jobs have one

            kind = kind_of(job.spec).name
            initializing.check(context, job, kind)
        if job.spec.runtime is not None:
            from compiler.platforms.eks.runs import released

            kind = kind_of(job.spec).name
            released.check(context, job, kind)
    yield from _nodes(context, context.once(resolve_jobs))
    waiting = [job for job in bound if job.waits]
    if waiting:
        _judge_later(context, waiting)


def check_others(context: Context, job: Job, storages: Mapping[str, Storage]) -> None:
    """Each of the pools that are tried later, as if the job ran there; what was said of the first is not repeated."""
    reported = len(context.diagnostics)
    known = list(context.diagnostics)
    for other in job.others:
        check_job(context, replace(job, pool=other), storages)
    added = context.diagnostics[reported:]
    fresh = [fault for fault in added if fault not in known]
    context.diagnostics[reported:] = fresh


def with_least_memory(job: Job) -> Job:
    """The job on that of its pools whose accelerators have the least memory: its state must fit on each."""
    if not job.others:
        return job
    least = min(job.pools, key=lambda pool: pool.accelerator_memory_mib)
    pool = replace(least, share=job.pool.share)
    return replace(job, pool=pool)


def _judge_later(context: Context, jobs: list[Job]) -> None:
    """What jobs will be once their images are built: judged now, and written then. What it shares with jobs that are
    written is reported there; its names come with its images."""
    reported = len(context.diagnostics)
    derived = len(context.derived)
    context.waiting += _nodes(context, jobs)
    written = context.waiting
    names = {node.name for node in written if isinstance(node, TrainJob)}
    values = context.derived[derived:]
    of_written = [value for value in values if value.value not in names]
    context.derived[derived:] = of_written
    known = context.diagnostics[:reported]
    added = context.diagnostics[reported:]
    fresh = [fault for fault in added if fault not in known]
    context.diagnostics[reported:] = fresh


def _nodes(context: Context, jobs: list[Job]) -> Iterator[PlanNode]:
    """The nodes of jobs, and of what they mount."""
    storages = context.once(resolve_storage)
    outputs = [train_job(context, job) for job in jobs]
    # Jobs of equal content share a runtime and a ConfigMap, at the place of the first of them.
    runtimes, file_sets = {}, {}
    for output in reversed(outputs):
        runtimes[output.runtime.name] = output.runtime
        files = output.files
        if files is not None:
            file_sets[files.namespace, files.name] = files
    yield from runtimes.values()
    yield from file_sets.values()
    for output in outputs:
        _needs_secrets(context, output.job)
        yield output.job
    for output in outputs:
        if output.state is not None:
            yield output.state
    for job in jobs:
        saved = schedule(context, job, storages)
        if saved is not None:
            yield saved
    for job in jobs:
        _needs_others(context, job)
    yield from mounted(context, jobs)


def _needs_secrets(context: Context, job: TrainJob) -> None:
    for variable in job.env:
        if variable.secret:
            secret = ("v1", "Secret", job.namespace, variable.secret)
            context.external.add(secret)
    for source in job.initializers:
        if source.secret:
            secret = ("v1", "Secret", job.namespace, source.secret)
            context.external.add(secret)


def _needs_others(context: Context, job: Job) -> None:
    """Record the external objects that the job names: the report lists them for a reviewer."""
    account = job.spec.service_account
    if account:
        context.external.add(("v1", "ServiceAccount", job.namespace, account))
    for secret in job.spec.image_pull_secrets:
        context.external.add(("v1", "Secret", job.namespace, secret))
    needs(context, job)


def _pod(
    context: Context, job: Job, shared: Quantity, asked: dict[str, Quantity], files: FileSet | None
) -> Pod:
    """The pod of every node of a job, but for its program."""
    pool, spec = job.pool, job.spec
    terms: tuple[tuple[Requirement, ...], ...] = ()
    if job.others or is_mixed(job.queue):
        terms = pool_terms(job.pools)
    placement = _topology(job)
    annotations = {"karpenter.sh/do-not-disrupt": "true", **placement, **spec.annotations}
    shared_memory_volume = Volume(_SHM, "emptyDir", medium="Memory", size=shared)
    return Pod(
        at=job.at,
        containers=(_container(context, job, files),),
        init_containers=_init_containers(context, job, asked, files),
        node_selector={} if terms else pool.selector,
        pools=terms,
        tolerations=all_tolerations(job.pools),
        volumes=(shared_memory_volume, *volumes_of(job, files, _SHM)),
        restart_policy="Never",
        grace_seconds=grace(context, job),
        fs_group=group_of_volumes(context, job),
        service_account=_account(context, job),
        priority_class=POD_PRIORITY,
        annotations=annotations,
        excluded_nodes=tuple(spec.exclude_nodes),
        pull_secrets=tuple(spec.image_pull_secrets),
        origins={
            **_annotation_places(job, placement),
            "excluded_nodes": job.at / "excludeNodes",
            "pull_secrets": job.at / "imagePullSecrets",
            "tolerations": pool.at / "taints",
            "volumes": job.at / "sharedMemory",
            **_volume_places(job, files),
            "init_containers": job.at / "initContainers",
            "node_selector": job.at / "pool",
            "pools": job.at / "pool",
            "grace_seconds": job.at / "gracePeriod",
            "service_account": job.at / "serviceAccount",
        },
    )


def runtime(context: Context, job: Job, pod: Pod, asked: dict[str, Quantity]) -> Runtime:
    """The versioned runtime of a job: its name carries a hash of its content, so it never changes under a job. Or that
    of Trainer's release which it names."""
    pool, spec = job.pool, job.spec
    kind = kind_of(spec)
    refers = kind.name == TRAIN_JOB
    if spec.runtime is not None and refers:
        from compiler.platforms.eks.runs import released

        return released.runtime(context, job, spec.runtime)
    launcher = launcher_of(spec)
    replicated = launcher.jobs(context, job, pod, asked)
    if spec.initializer is not None:
        from compiler.platforms.eks.runs.initializing import with_initializers

        replicated = with_initializers(context, job, replicated, pod)
    if not refers:
        replicated = _with_mounts(context, job, replicated)
    unnamed = Runtime(
        at=job.at,
        name="",
        jobs=replicated,
        framework=launcher.framework,
        settings=launcher.settings(job),
        decisive=launcher.decisive(job),
        nodes=1,
        max_restarts=launcher.restarts(job),
        restart_strategy="Recreate",
        prune=False,
        origins={"max_restarts": job.at / "retries" / "job"},
    )
    unnamed = kind.runtime(context, job, unnamed)
    if job.others:
        one_pod_set(context, spec, unnamed, job.at)
    whole = f"{launcher.framework}-{pool.name}"
    name = whole[:48].rstrip("-")
    digest = _digest(unnamed)
    return replace(unnamed, name=f"{name}-{digest}")


def _initializers(job: Job) -> tuple[InitializerSource, ...]:
    if job.spec.initializer is None:
        return ()
    from compiler.platforms.eks.runs.initializing import sources

    return sources(job)


def _with_mounts(
    context: Context, job: Job, replicated: tuple[ReplicatedJob, ...]
) -> tuple[ReplicatedJob, ...]:
    """Replicated jobs whose pods mount the job's storage themselves: no TrainJob patches them."""
    if not job.spec.mounts:
        return replicated
    mounting = _mounting(context, job)
    volumes = mounting.volumes
    places = {f"volumes.{volume.name}": mounting.at for volume in volumes}
    jobs = []
    for own in replicated:
        pod = patched(own.pod, mounting)
        pod = replace(pod, origins={**pod.origins, **places})
        jobs.append(replace(own, pod=pod))
    return tuple(jobs)


def _annotation_places(job: Job, placement: dict[str, str]) -> dict[str, Route]:
    places = {f"annotations.{key}": job.at / "annotations" / key for key in job.spec.annotations}
    if job.spec.topology is not None:
        for key in placement:
            places[f"annotations.{key}"] = job.at / "topology"
    return places


def _volume_places(job: Job, files: FileSet | None) -> dict[str, Route]:
    places = {
        f"volumes.{volume.name}": job.at / "volumes" / index
        for index, volume in enumerate(job.spec.volumes)
    }
    if files is not None:
        name = files_volume(job, _SHM)
        places[f"volumes.{name}"] = job.at / "files"
    return places


def _init_containers(
    context: Context, job: Job, asked: dict[str, Quantity], files: FileSet | None
) -> tuple[Container, ...]:
    """The init containers of a pod.

    Each asks for the CPU and memory of the program: a pod asks for the most of any of them (Kubernetes, init
    containers), so this costs nothing, and a namespace with a ResourceQuota takes no container without requests.
    """
    share = {name: asked[name] for name in ("cpu", "memory")}
    mounts = mounts_of(job, files, _SHM)
    containers = list(owners(context, job, mounts, share))
    for index, init in enumerate(job.spec.init_containers):
        at = job.at / "initContainers" / index
        context.settle(
            job.target,
            f"initContainers.{init.name}.image",
            init.image,
            job.spec.image,
            "the image of the job",
            at=at / "image",
        )
        variables = init.env.items()
        containers.append(
            Container(
                at=at,
                name=init.name,
                image=init.image or job.spec.image,
                command=tuple(init.command),
                args=tuple(init.args),
                env=tuple(EnvVar(name, value) for name, value in variables),
                requests=share,
                limits=share,
                mounts=mounts,
                origins={
                    "image": at / "image",
                    "command": at / "command",
                    "args": at / "args",
                    "env": at / "env",
                },
            )
        )
    return tuple(containers)


def _container(context: Context, job: Job, files: FileSet | None) -> Container:
    shared_memory = Mount(_SHM, "/dev/shm")
    return Container(
        at=job.at,
        name="node",
        mounts=(shared_memory, *mounts_of(job, files, _SHM)),
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
    text = content(node)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


class JobOutput(NamedTuple):
    """The TrainJob of a job, the runtime that it refers to, its files, and the training state of its model."""

    job: TrainJob
    runtime: Runtime
    files: FileSet | None
    state: TrainingState | None


def train_job(context: Context, job: Job) -> JobOutput:
    """Everything that is derived from a job alone."""
    spec = job.spec
    asked = requests(context, job)
    count = processes(context, job, asked)
    shared = shared_memory(context, job, asked["memory"], count)
    if spec.deepspeed is not None:
        from compiler.core.jobs.deepspeed.resolve import with_configuration

        job = with_configuration(context, job, count)
    files = file_set(job)
    pod = _pod(context, job, shared, asked, files)
    job_runtime = runtime(context, job, pod, asked)
    state = check_model(context, with_least_memory(job), asked, count)
    _check_deadline(context, job)
    env = environment(context, job)
    patches = _patches(context, job, job_runtime, pod)
    kind = kind_of(spec)
    own = _own_volumes(patches[0].pod if patches else None)
    released = None
    if spec.runtime is not None and patches:
        released = patches[0].pod
    identity = _identity(job, asked, count, job_runtime, env, own, released)
    name = f"{spec.name}-{identity}"
    context.derive(job.target, "name", name, "carries a hash of all that would force a new run")
    if kind.name == TRAIN_JOB:
        context.derive(
            job.target,
            "runtime",
            job_runtime.name,
            "a runtime that changes under a job restarts it: named by content",
        )
    _explain(context, job)
    labels = {**JobsSection.of(context.spec).labels, **spec.labels, JOB_LABEL: spec.name}
    refers_to, runtime_kind = name, kind.name  # to pods of its own
    if kind.name == TRAIN_JOB:
        refers_to, runtime_kind = job_runtime.name, "ClusterTrainingRuntime"
    declared = launcher_of(spec).declared(count)
    command, args = kind.words(job)
    if spec.timeout:
        deadline = spec.timeout.seconds
    else:
        deadline = None
    fallbacks = tuple(other.name for other in job.others)
    node = TrainJob(
        at=job.at,
        name=name,
        namespace=job.namespace,
        kind=kind.name,
        runtime=refers_to,
        runtime_kind=runtime_kind,
        queue=job.queue.name,
        priority=spec.priority,
        nodes=kind.nodes(job),
        least_nodes=spec.least_nodes,
        initializers=_initializers(job),
        processes=kind.processes(declared),
        image=spec.image,
        command=command,
        args=args,
        env=(
            *env,
            *launcher_of(spec).rendezvous(context, job, name),
            *kind.environment(context, job, name, count),
        ),
        requests=asked,
        limits=asked,
        patches=patches,
        prune=False,
        deadline=deadline,
        labels=labels,
        source_name=spec.name,
        pool=job.pool.name,
        fallbacks=fallbacks,
        rerun=spec.rerun,
        pods_a_node=pods_a_node(job, asked),
        annotations=dict(spec.annotations),
        origins=_places(job),
    )
    of_job = kind.runtime_of(job_runtime, node)
    return JobOutput(node, of_job, files, state)


def _says_image(job: Job) -> str:
    """The key of a job that says its image: without one of its own that is the released runtime."""
    name = job.spec.runtime
    if name is not None and image_of(name) == job.spec.image:
        return "runtime"
    return "image"


def _places(job: Job) -> dict[str, Route]:
    at = job.at
    places = {
        "annotations": at / "annotations",
        "nodes": at / "nodes",
        "least_nodes": at / "minNodes",
        "image": at / _says_image(job),
        "command": at / "command",
        "args": at / "args",
        "env": at / "env",
        "requests": at / "resources",
        "limits": at / "resources",
        "patches": at / ("mounts" if job.spec.runtime is None else "runtime"),
        "queue": at / "queue",
        "priority": at / "priority",
        "deadline": at / "timeout",
        "name": at / "name",
        "processes": at / "processesPerNode",
        "namespace": at / "namespace",
        "runtime": at / "pool",
        f"env.{CHECKPOINT_ENV}": at / "checkpoint" / "path",
        f"env.{CHECKPOINT_EVERY_ENV}": at / "checkpoint" / "every",
        f"env.{CHECKPOINT_KEEP_ENV}": at / "checkpoint" / "keep",
        f"env.{SIGNAL_FILE_ENV}": at / "checkpoint" / "signalFile",
        **launcher_of(job.spec).places(job),
    }
    if job.spec.labels:
        places["labels"] = at / "labels"
    for name in job.spec.env:
        places[f"env.{name}"] = at / "env" / name
    for index, secret in enumerate(job.spec.secrets):
        place = at / "secrets" / index
        places[f"env.{secret.env}"] = place / "env"
    return places


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
    job_runtime: Runtime,
    env: tuple[EnvVar, ...],
    own: Mapping[str, Quantity],
    released: Pod | None,
) -> str:
    """Five hex digits over everything that cannot change in a TrainJob that exists (CEL of Trainer 2.3.0). ``own``: the
    sizes of volumes that are each pod's. ``released``: what it lays over a released runtime."""
    spec = job.spec
    variables = [(item.name, item.value, item.secret, item.key) for item in env]
    mounts: list[tuple[object, ...]] = [
        (mount.storage, mount.path, mount.read_only) for mount in spec.mounts
    ]
    sizes = own.items()
    mounts += [(name, str(size)) for name, size in sizes]
    requests = asked.items()
    asked_milli = {name: quantity.milli for name, quantity in requests}
    content: dict[str, object] = {
        "image": spec.image,
        "command": spec.command,
        "args": spec.args,
        "nodes": spec.nodes,
        "env": variables,
        **launcher_of(spec).identity(job),
        "mounts": mounts,
        "asked": asked_milli,
        "processes": count,
        "runtime": job_runtime.name,
        "queue": job.queue.name,
        "namespace": job.namespace,
        "priority": spec.priority,
        "rerun": spec.rerun,
        "timeout": spec.timeout.seconds if spec.timeout else None,
    }
    kind = kind_of(spec).name
    if kind != TRAIN_JOB:
        content["kind"] = kind
    if spec.roles:
        roles = spec.roles
        content["roles"] = [role.model_dump(mode="json") for role in roles]
    if spec.initializer is not None:
        content["initializer"] = spec.initializer.model_dump(mode="json")
    if released is not None:
        content["pod"] = _digest(released)
    if spec.least_nodes is not None:
        content["leastNodes"] = spec.least_nodes
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:5]


def _explain(context: Context, job: Job) -> None:
    target, pool = job.target, job.pool
    zones: dict[str, None] = {}
    for known in job.pools:
        zones |= dict.fromkeys(known.zones)
    if job.others:
        there = "each pool is in one of them"
    else:
        there = f"pool {pool.name} is there"
    context.derive(target, "zone", ", ".join(zones), there, follows=pool.at)
    context.derive(
        target,
        "tolerations",
        ", ".join(map(str, pool.taints)),
        f"the taints of pool {pool.name}",
        follows=pool.at,
    )
    _explain_restarts(context, job)
    context.derive(
        target,
        "disruption",
        "karpenter.sh/do-not-disrupt",
        "a node that is emptied to save money would end the whole gang",
        "karpenter.sh/v1, v1.14.1",
    )
    if job.spec.runtime is None:
        context.derive(
            target,
            "priorityClass",
            POD_PRIORITY,
            "above best-effort pods, never preempting: Kueue decides",
        )
    _explain_topology(context, job)


def _explain_restarts(context: Context, job: Job) -> None:
    launcher_of(job.spec).explain(context, job)
    kind = kind_of(job.spec)
    kind.explain(context, job)
    retries = job.spec.retries
    if job.spec.runtime is not None:
        return
    context.settle(
        job.target,
        "retries.job",
        retries.job if "job" in retries.model_fields_set else None,
        launcher_of(job.spec).restarts(job),
        kind.retried,
        at=job.at / "retries" / "job",
    )
    if kind.name not in (TRAIN_JOB, "JobSet"):
        return
    context.derive(
        job.target,
        "restart",
        "restartPolicy Never, backoffLimit 0",
        "a lost rank hangs the others: every failure passes to JobSet, which makes all pods anew",
        "jobset.x-k8s.io/v1alpha2 failurePolicy",
    )


def _explain_topology(context: Context, job: Job) -> None:
    level = _level(job)
    given = job.spec.topology
    if level is None and given is None:
        if _asks_for_any_host(job):
            context.derive(
                job.target,
                "topology",
                "any host",
                f"pool {job.pool.name} has a topology and another pool of the queue has none: Kueue gives its nodes "
                "only to pods that ask for one",
                UNCONSTRAINED_TOPOLOGY,
            )
        return
    by = "reservation" if level == RESERVATION_LABEL else "EC2's network layers"
    context.settle(
        job.target,
        "topology",
        f"{given.chosen} {given.level}" if given else None,
        level,
        f"pool {job.pool.name} is placed by {by}",
        "kueue.x-k8s.io/podset-preferred-topology",
        at=job.at / "topology",
    )


def _level(job: Job) -> str | None:
    """The level of the topology that a gang is kept in where it fits."""
    if has_peers(job.spec):
        return preferred_level(job.pool)
    return None


def _topology(job: Job) -> dict[str, str]:
    """The annotation by which Kueue places the pods (kueue v0.19.2, apis/kueue/v1beta2 topology_types.go)."""
    given = job.spec.topology
    if given is not None:
        key = f"kueue.x-k8s.io/podset-{given.chosen}-topology"
        return {key: LEVELS[given.level]}
    level = _level(job)
    if level is not None:
        return {PREFERRED_TOPOLOGY: level}
    if _asks_for_any_host(job):
        return {UNCONSTRAINED_TOPOLOGY: "true"}
    return {}


def _asks_for_any_host(job: Job) -> bool:
    """Whether a single node must ask for a topology at all: where some pool of a queue has none, Kueue gives nodes of a
    pool that has one only to pods that ask for it ("Flavor … supports only TopologyAwareScheduling", v0.19.2)."""
    if not any(topology_name(pool) for pool in job.pools):
        return False
    pools = (pool for pool, _, _ in job.queue.quota)
    return any(topology_name(pool) is None for pool in pools)


PREFERRED_TOPOLOGY = "kueue.x-k8s.io/podset-preferred-topology"
UNCONSTRAINED_TOPOLOGY = "kueue.x-k8s.io/podset-unconstrained-topology"


def _patches(context: Context, job: Job, job_runtime: Runtime, own: Pod) -> tuple[Patch, ...]:
    """The patches by which a TrainJob mounts its storage into every container of its pods; of a released runtime by
    which it says all of its own pod."""
    spec = job.spec
    lays_over = spec.mounts or spec.runtime
    if kind_of(spec).name != TRAIN_JOB or not lays_over:
        return ()
    if spec.mounts:
        mounting = _mounting(context, job)
    else:
        mounting = None
    pod = mounting
    if spec.runtime is not None:
        from compiler.platforms.eks.runs import released

        pod = released.patch(own, mounting)
    if pod is None:
        return ()
    # podTemplateOverrides, the form before 2.2, name no manager.
    named = context.release.has("trainer.runtimePatches", context.version("trainer"))
    manager = MANAGER if named else ""
    return tuple(
        Patch(at=pod.at, job=replicated.name, pod=pod, manager=manager)
        for replicated in job_runtime.jobs
        if replicated.step not in INITIALIZERS
    )


def _mounting(context: Context, job: Job) -> Pod:
    """What a pod has more for the job's storage."""
    at = job.at / "mounts"
    storages = context.once(resolve_storage)
    mounts, volumes = [], []
    named = zip(_volume_names(job), job.spec.mounts, strict=True)
    for name, mount in named:
        mounts.append(Mount(name, mount.path, mount.read_only))
        volumes.append(_volume_of(storages, name, mount.storage))
    return Pod(
        at=at,
        containers=(Container(at=at, name="node", mounts=tuple(mounts)),),
        init_containers=tuple(
            Container(at=at, name=init.name, mounts=tuple(mounts))
            for init in job.spec.init_containers
        ),
        volumes=tuple(volumes),
    )


def _own_volumes(patched: Pod | None) -> dict[str, Quantity]:
    """The volumes of what patches add to a pod that are made for each pod, and their sizes."""
    if patched is not None:
        volumes = patched.volumes
    else:
        volumes = ()
    return {
        volume.name: volume.size
        for volume in volumes
        if volume.type == "ephemeral" and volume.size is not None
    }


def _volume_of(storages: Mapping[str, Storage], name: str, storage: str) -> Volume:
    """The volume of a mounted storage: its claim, or one that is made for the pod."""
    known = storages.get(storage)
    if known is not None:
        disk = known.spec.disk
    else:
        disk = None
    if disk is not None and disk.each == "pod":
        return Volume(name, "ephemeral", f"ebs-{storage}", size=disk.size)
    return Volume(name, "persistentVolumeClaim", storage)


def _volume_names(job: Job) -> list[str]:
    """The name of a volume for each mount.

    One volume for each: Trainer's patches mount a volume only once (list key `name`). The names differ from those of
    the runtime's volumes.
    """
    used = [_SHM]
    used += [volume.name for volume in job.spec.volumes]
    used += launcher_of(job.spec).volumes
    if job.spec.files:
        used.append(files_volume(job, _SHM))
    names: list[str] = []
    for mount in job.spec.mounts:
        name = free(mount.storage, used)
        names.append(name)
        used.append(name)
    return names
