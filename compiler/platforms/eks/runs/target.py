"""Target: Kubeflow Trainer's ClusterTrainingRuntime and TrainJob (2.1: podTemplateOverrides; 2.2 on: runtimePatches).

Neither `suspend` nor anything else that Kueue or Trainer own is ever written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from compiler.core.pods.plan import Pod, ReplicatedJob
from compiler.manifest import Body, Manifest
from compiler.output.artifact import Places
from compiler.plan import Plan
from compiler.platforms.eks.flux.plan import chart_version
from compiler.platforms.eks.runs.bodies import env_bodies, pod_spec, pod_template
from compiler.platforms.eks.runs.origins import (
    LEAST,
    PRIORITY,
    QUEUE,
    WORDS,
    job_origins,
    runtime_origins,
)
from compiler.platforms.eks.runs.plan import (
    TRAIN_JOB,
    TRAINER_CHART,
    FileSet,
    InitializerSource,
    Patch,
    Runtime,
    TrainJob,
)
from compiler.targets.body import NO_PRUNE, given, head, path, quantities, unsubstituted

API = "trainer.kubeflow.org/v1alpha1"
RUNTIMES, JOBS = "queues/runtimes", "jobs"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
FILES = "trainyard.dev/files"
# Kueue lowers the parallelism of what it admits in part, and refuses every edit of it from then on (kueue v0.19.2,
# job_webhook.go): Flux applies the job where it is not there, and never again (kustomize-controller v1.9).
ONCE = {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}
# Kueue writes node selectors, labels and gates into the groups of what it admits, and the list of them is one value for
# server-side apply (kuberay v1.6.2, workerGroupSpecs has no list type): Flux would take all of that back. Observed with
# Kueue 0.19.2 and Kubernetes 1.36: an apply of an admitted RayJob took gates and labels of its workers, not the head's.
_ONE_LIST = ("RayJob",)


def lower(plan: Plan) -> Iterator[Manifest]:
    """Runtimes a stage before the jobs: a TrainJob is refused while its runtime is not there."""
    old = (chart_version(plan, TRAINER_CHART) or "").startswith("2.1.")
    for runtime in plan.of(Runtime):
        if runtime.kind:  # the pods of a job itself: ``compiler.platforms.eks.own_pods``
            continue
        body = runtime_body(runtime)
        yield Manifest(body, path(RUNTIMES, body), runtime.at, runtime_origins(runtime))
    for files in plan.of(FileSet):
        body = files_body(files)
        places: Places = {}
        for key in files.files:
            origin = files.where(f"files.{key}")
            places["data", key] = origin
        yield Manifest(body, path(JOBS, body), files.at, places)
    for job in plan.of(TrainJob):
        if job.kind != TRAIN_JOB:
            continue
        body = job_body(job, overrides=old)
        yield Manifest(body, path(JOBS, body), job.at, job_origins(job, old), WORDS)


def runtime_body(runtime: Runtime) -> Body:
    """ClusterTrainingRuntime, or TrainingRuntime where it has a namespace."""
    kind = "TrainingRuntime" if runtime.namespace else "ClusterTrainingRuntime"
    labels = {}
    policy = given(numNodes=runtime.nodes)
    if runtime.framework:
        labels["trainer.kubeflow.org/framework"] = runtime.framework
        policy[runtime.framework] = dict(runtime.settings)
    return {
        **head(
            API,
            kind,
            runtime.name,
            runtime.namespace,
            labels=labels,
            annotations=_runtime_annotations(runtime),
        ),
        "spec": {"mlPolicy": policy, "template": {"spec": runtime_spec(runtime)}},
    }


def runtime_spec(runtime: Runtime) -> Body:
    """The spec of a JobSet."""
    success = {}
    if runtime.decisive:
        success = {"operator": "All", "targetReplicatedJobs": list(runtime.decisive)}
    return given(
        successPolicy=success,
        failurePolicy=given(
            maxRestarts=runtime.max_restarts, restartStrategy=runtime.restart_strategy
        ),
        replicatedJobs=[_replicated(job) for job in runtime.jobs],
    )


def files_body(files: FileSet) -> Body:
    """ConfigMap. A text with `${` would be changed by Flux (kustomize-controller 1.9)."""
    if files.prune:
        annotations = {}
    else:
        annotations = dict(NO_PRUNE)
    annotations = unsubstituted(annotations, files.files.values())
    return {
        **head(
            "v1",
            "ConfigMap",
            files.name,
            files.namespace,
            labels={FILES: "true"},
            annotations=annotations,
        ),
        "immutable": True,
        "data": dict(files.files),
    }


def _runtime_annotations(runtime: Runtime) -> Body:
    """How Flux applies it. Flux would replace its own variables in the texts of containers too."""
    if runtime.prune:
        annotations = {}
    else:
        annotations = dict(NO_PRUNE)
    pods = (_texts(job.pod) for job in runtime.jobs)
    texts = chain.from_iterable(pods)
    return unsubstituted(annotations, texts)


def _texts(pod: Pod) -> Iterator[str]:
    """What the spec says in a pod of a runtime, word for word."""
    yield from pod.annotations.values()
    for container in (*pod.init_containers, *pod.containers):
        yield container.working_dir
        yield from container.command
        yield from container.args
        for variable in container.env:
            yield variable.value or ""


def _replicated(job: ReplicatedJob) -> Body:
    dependencies = [{"name": name, "status": "Complete"} for name in job.depends_on]
    ready = job.ready_after
    dependencies += [{"name": name, "status": "Ready"} for name in ready]
    template = given(
        metadata=given(labels=given(**{STEP: job.step})),
        spec=given(backoffLimit=job.backoff_limit, template=pod_template(job.pod)),
    )
    return given(
        name=job.name,
        replicas=job.replicas if job.replicas != 1 else None,
        dependsOn=dependencies,
        template=template,
    )


def job_body(job: TrainJob, *, overrides: bool) -> Body:
    """TrainJob. ``overrides``: patches in the form of Trainer 2.1."""
    metadata = job_head(job, API)
    runtime_ref = {
        "apiGroup": "trainer.kubeflow.org",
        "kind": job.runtime_kind,
        "name": job.runtime,
    }
    laid_over = _patches(job.patches)
    patches: dict[str, list[Body]] = {"runtimePatches": laid_over}
    if overrides:
        patches = {"podTemplateOverrides": list(map(_override, job.patches))}
    sources = job.initializers
    initializers = {source.name: _source(source) for source in sources}
    spec = given(
        runtimeRef=runtime_ref,
        activeDeadlineSeconds=job.deadline,
        managedBy=job.managed_by,
        initializer=initializers,
        trainer=_trainer(job) if job.trainer else None,
        **patches,
    )
    return {**metadata, "spec": spec}


def job_head(job: TrainJob, api: str, own: Runtime | None = None) -> Body:
    """apiVersion, kind and metadata of a job; ``own``: the pods that its object has itself."""
    labels = dict(job.labels)
    if job.queue:
        labels[QUEUE] = job.queue
    if job.priority:
        labels[PRIORITY] = job.priority
    return head(
        api,
        job.kind,
        job.name,
        job.namespace,
        labels=labels,
        annotations=_job_annotations(job, own),
    )


def _source(source: InitializerSource) -> Body:
    return given(
        storageUri=source.uri,
        env=env_bodies(source.env),
        secretRef={"name": source.secret} if source.secret else None,
    )


def _trainer(job: TrainJob) -> Body:
    resources = given(requests=quantities(job.requests), limits=quantities(job.limits))
    return given(
        numNodes=job.nodes,
        numProcPerNode=job.processes,
        image=job.image,
        command=list(job.command),
        args=list(job.args),
        env=env_bodies(job.env),
        resourcesPerNode=resources,
    )


def _job_annotations(job: TrainJob, own: Runtime | None) -> Body:
    annotations = dict(job.annotations)
    if not job.prune:
        annotations.update(NO_PRUNE)
    if job.least_nodes is not None:
        annotations[LEAST] = str(job.least_nodes)
    if job.least_nodes is not None or job.kind in _ONE_LIST:
        annotations.update(ONCE)
    values = [variable.value or "" for variable in job.env]
    for source in job.initializers:
        values.append(source.uri or "")
        values += [variable.value or "" for variable in source.env]
    texts = [*job.command, *job.args, *values, *job.annotations.values()]
    if own is not None:
        for part in own.jobs:
            texts += _texts(part.pod)
    return unsubstituted(annotations, texts)


def _override(patch: Patch) -> Body:
    return given(
        targetJobs=[{"name": patch.job}], metadata=_metadata(patch.pod), spec=pod_spec(patch.pod)
    )


def _patches(patches: Iterable[Patch]) -> list[Body]:
    """runtimePatches: a list by manager, so that those of one manager are one entry."""
    jobs: dict[str, list[Body]] = {}
    for patch in patches:
        metadata = _metadata(patch.pod)
        pod = given(metadata=metadata, spec=pod_spec(patch.pod))
        job = {"name": patch.job, "template": {"spec": {"template": pod}}}
        jobs.setdefault(patch.manager, []).append(job)
    return [
        {"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": own}}}}
        for manager, own in jobs.items()
    ]


def _metadata(pod: Pod) -> Body:
    labels = dict(pod.labels)
    return given(labels=labels, annotations=dict(pod.annotations))
