"""Resolves jobs: from ten lines to a runtime and a TrainJob with every field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainyard.catalog.runtimes import image_of
from trainyard.core.jobs.binding import bound_jobs, resolve_jobs
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.jobs.requests import pods_a_node
from trainyard.core.jobs.settled import SettledJob, checked_jobs, places, settle
from trainyard.core.jobs.spec import JobsSection
from trainyard.core.pods.plan import EnvVar, Pod
from trainyard.core.storage.storages import resolve_storage
from trainyard.eks.flux.stages import stage
from trainyard.eks.jobs.kind import JobKind, kind_of
from trainyard.eks.jobs.plan import TRAIN_JOB, FileSet, InitializerSource, Runtime, TrainJob
from trainyard.eks.runs import initializing
from trainyard.eks.runs.explanation import explain
from trainyard.eks.runs.fallbacks import one_pod_set
from trainyard.eks.runs.identity import digest_of, identity_of
from trainyard.eks.runs.initializing import sources, with_initializers
from trainyard.eks.runs.mounting import own_volumes, patches_for, with_mounts
from trainyard.eks.runs.pod import pod_of
from trainyard.eks.runs.volumes import file_set, needs
from trainyard.eks.settings.launcher import launcher_of as pool_launcher
from trainyard.eks.volumes.disks import check_mount, check_namespaces
from trainyard.eks.volumes.resolve import check_volumes, volumes
from trainyard.eks.volumes.stages import VOLUMES, accounts, stages
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

# The volumes that jobs mount: one of each storage in each namespace whose jobs name it.


def mounted(context: Context, jobs: list[Job]) -> Iterator[PlanItem]:
    """A PersistentVolume and its claim for each storage that the jobs of a namespace mount; of made file systems the
    stages too that carry them."""
    yield from accounts()
    storages = context.once(resolve_storage)
    pairs: dict[tuple[str, str], None] = {}
    for job in jobs:
        for index, mount in enumerate(job.spec.mounts):
            storage = storages.get(mount.storage)
            if storage is None:
                continue
            pairs[job.namespace, mount.storage] = None
            if storage.spec.ebs is not None:
                at = job.at / "mounts" / index / "storage"
                check_mount(context, storage, job.spec, job.pools, at)
    check_volumes(context, storages, list(pairs))
    for name, storage in storages.items():
        if storage.spec.existing_disk is not None:
            mounting = [pair for pair in pairs if pair[1] == name]
            owners = [namespace for namespace, _ in mounting]
            check_namespaces(context, storage, owners)
    for namespace, name in pairs:
        yield from volumes(context, storages[name], namespace)
    mounted_names = [name for _, name in pairs]
    kept = [name for name in mounted_names if storages[name].stays]
    if kept:
        # A claim is bound when a pod is placed: who waited for that would wait for the job.
        yield stage(context, "disks", "platform", account=VOLUMES, wait=False)
    before = context.answers.admission.stage(context)
    late = {name for name in mounted_names if storages[name].late}
    if late:
        waited_for = [storages[name] for name in sorted(late)]
        yield from stages(context, waited_for)
        # Jobs wait for the volumes: a gang that was admitted without would hold its nodes.
        yield stage(context, "jobs", before, "storage", account="jobs", wait=False)
    elif jobs:
        # A job that runs for a week is healthy all the while: nothing waits for it.
        yield stage(context, "jobs", before, account="jobs", wait=False)


JOB_LABEL = "trainyard.dev/job"


def resolve(context: Context) -> Iterator[PlanItem]:
    """Every job with the runtime that it refers to, its volumes, and the stage that carries jobs."""
    for job in checked_jobs(context):
        for launcher in dict.fromkeys(map(pool_launcher, job.pools)):
            launcher.check_job(context, job)
        kind = kind_of(job)
        kind.check(context, job)
        if job.spec.launcher is not None and not _has_launcher(job):
            able = _able(context, launcher_of(job).framework)
            kind.refuse_launcher(context, job, able)
        if job.spec.initializer is not None:
            initializing.check(context, job)
        if job.spec.runtime is not None:
            from trainyard.eks.runs import released

            released.check(context, job)
    yield from _nodes(context, context.once(resolve_jobs))
    waiting = [job for job in context.once(bound_jobs) if job.waits]
    if waiting:
        _judge_later(context, waiting)


def _has_launcher(job: Job) -> bool:
    return launcher_of(job).framework in kind_of(job).launchers


def _able(context: Context, framework: str) -> list[str]:
    """The kinds of the platform that have a launcher, by its framework."""
    known: list[JobKind] = list(context.answers.kinds().values())
    return [kind.name for kind in known if framework in kind.launchers]


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


def _nodes(context: Context, jobs: list[Job]) -> Iterator[PlanItem]:
    """The nodes of jobs, and of what they mount."""
    # One whose kind cannot start it is reported, and is no object.
    settled = [settle(context, job) for job in jobs if _has_launcher(job)]
    outputs = [train_job(context, each) for each in settled]
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
    for each in settled:
        yield from each.items()
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


def runtime(context: Context, job: Job, pod: Pod, asked: Mapping[str, Quantity]) -> Runtime:
    """The versioned runtime of a job: its name carries a hash of its content, so it never changes under a job. Or that
    of Trainer's release which it names."""
    pool, spec = job.pool, job.spec
    kind = kind_of(job)
    refers = kind.name == TRAIN_JOB
    if spec.runtime is not None and refers:
        from trainyard.eks.runs import released

        return released.runtime(context, job, spec.runtime)
    launcher = launcher_of(job)
    replicated = launcher.jobs(context, job, pod, asked)
    if spec.initializer is not None and refers:
        replicated = with_initializers(context, job, replicated, pod)
    if not refers:
        replicated = with_mounts(context, job, replicated)
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
        origins={"max_restarts": job.at / "retries"},
    )
    unnamed = kind.runtime(context, job, unnamed)
    if job.others:
        one_pod_set(context, spec, unnamed, job.at)
    whole = f"{launcher.framework}-{pool.name}"
    name = whole[:48].rstrip("-")
    digest = digest_of(unnamed)
    return replace(unnamed, name=f"{name}-{digest}")


def _initializers(job: Job) -> tuple[InitializerSource, ...]:
    if job.spec.initializer is None:
        return ()

    return sources(job)


@dataclass(frozen=True, slots=True)
class JobOutput:
    """The TrainJob of a job, the runtime that it refers to, and its files."""

    job: TrainJob
    runtime: Runtime
    files: FileSet | None


def _named(context: Context, job: Job, name: str, count: int) -> Iterator[EnvVar]:
    """The variables in which a run's own name stands."""
    yield from launcher_of(job).rendezvous(context, job, name)
    yield from kind_of(job).environment(context, job, name, count)


def train_job(context: Context, settled: SettledJob) -> JobOutput:
    """What a settled job is on Kubernetes."""
    job, asked, count = settled.job, settled.asked, settled.processes
    spec = job.spec
    files = file_set(job)
    pod = pod_of(context, settled, files)
    job_runtime = runtime(context, job, pod, asked)
    _check_deadline(context, job)
    patches = patches_for(context, job, job_runtime, pod)
    kind = kind_of(job)
    own = own_volumes(patches[0].pod if patches else None)
    released = patches[0].pod if spec.runtime is not None and patches else None
    identity = identity_of(settled, job_runtime, own, released)
    name = f"{spec.name}-{identity}"
    _explain_names(context, job, name, job_runtime)
    explain(context, job)
    labels = {**JobsSection.of(context.spec).labels, **spec.labels, JOB_LABEL: spec.name}
    refers_to, runtime_kind = name, kind.name  # to pods of its own
    if kind.name == TRAIN_JOB:
        refers_to, runtime_kind = job_runtime.name, "ClusterTrainingRuntime"
    command, args = kind.words(job)
    node = TrainJob(
        at=job.at,
        name=name,
        namespace=job.namespace,
        kind=kind.name,
        runtime=refers_to,
        runtime_kind=runtime_kind,
        queue=context.answers.admission.queue(job.queue.name),
        priority=context.answers.admission.priority(spec.priority),
        nodes=kind.nodes(job),
        least_nodes=spec.least_nodes,
        initializers=_initializers(job),
        processes=kind.processes(launcher_of(job).declared(count)),
        image=spec.image,
        command=command,
        args=args,
        env=(*settled.environment, *_named(context, job, name, count)),
        requests=asked,
        limits=asked,
        patches=patches,
        prune=False,
        deadline=spec.timeout.seconds if spec.timeout else None,
        labels=labels,
        source_name=spec.name,
        pool=job.pool.name,
        fallbacks=tuple(other.name for other in job.others),
        rerun=spec.rerun,
        pods_a_node=pods_a_node(job, asked),
        annotations={**kind.annotations(job), **spec.annotations},
        origins=_places(job),
    )
    of_job = kind.runtime_of(job_runtime, node)
    return JobOutput(node, of_job, files)


def _explain_names(context: Context, job: Job, name: str, job_runtime: Runtime) -> None:
    context.derive(job.target, "name", name, "carries a hash of all that would force a new run")
    if job.kind.name == TRAIN_JOB:
        context.derive(
            job.target,
            "runtime",
            job_runtime.name,
            "a runtime that changes under a job restarts it: named by content",
        )


def _says_image(job: Job) -> str:
    """The key of a job that says its image: without one of its own that is the released runtime."""
    name = job.spec.runtime
    if name is not None and image_of(name) == job.spec.image:
        return "runtime"
    return "image"


def _places(job: Job) -> dict[str, Route]:
    at = job.at
    found = {
        **places(job),
        "annotations": at / "annotations",
        "least_nodes": at / "minNodes",
        "image": at / _says_image(job),
        "patches": at / ("mounts" if job.spec.runtime is None else "runtime"),
        "kind": at / "kind",
        "runtime": at / "pool",
    }
    if job.spec.labels:
        found["labels"] = at / "labels"
    return found


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
