"""trainer.kubeflow.org/v1alpha1 TrainJob, which Trainer runs by a runtime (2.1: podTemplateOverrides; 2.2 on:
runtimePatches). What a job is that names no kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from trainyard.core.pods.plan import Pod
from trainyard.eks.flux.plan import chart_version
from trainyard.eks.jobs.bodies import env_bodies, pod_spec
from trainyard.eks.jobs.by_jobset import DELETES, explain_restart, host_of
from trainyard.eks.jobs.heads import JOBS, job_head
from trainyard.eks.jobs.kind import Ending, JobKind
from trainyard.eks.jobs.lifting import PRIORITY, QUEUE, own_annotations
from trainyard.eks.jobs.origins import WORDS, job_origins
from trainyard.eks.jobs.plan import TRAIN_JOB, TRAINER_CHART, InitializerSource, Patch, TrainJob
from trainyard.eks.jobs.run_pods import OF_JOBSET
from trainyard.language.units import Quantity
from trainyard.lift.pods import as_meant, env, misspelt, pod
from trainyard.lift.reader import (
    Places,
    Reader,
    as_flag,
    as_integer,
    as_text,
    labels_of,
    name_of,
    namespace_of,
    pruned,
    unread,
)
from trainyard.output.body import texts_at, value_at
from trainyard.output.lowering.body import fields_given, file_of, quantities
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context

INITIALIZER_CPU, INITIALIZER_MEMORY = Quantity.of(2), Quantity.gib(8)
"""What an initializer asks for: a download, and files of a few GiB in memory."""


class OfTrainer(JobKind):
    """A runtime that Trainer lays the job over."""

    name = kind = TRAIN_JOB
    place = 0
    api = "trainer.kubeflow.org/v1alpha1"
    plural = "trainjobs"
    crd = "kubeflow-trainer/v2.3.0"
    framework = "trainer.kubeflow.org/trainjob"
    operator = ""
    pods = (
        (
            *("spec", "runtimePatches", "*", "trainingRuntimeSpec", "template", "spec"),
            *("replicatedJobs", "*", "template", "spec", "template", "spec"),
        ),
    )
    name_limit = None
    name_syntax = "dns-1035-label"
    launchers = ("torch", "mpi", "jax")
    run_pods = OF_JOBSET
    ends = Ending(("Complete",))  # trainer v2.3.0, trainjob_types.go
    retries = ()
    retried = "how often JobSet recreates all pods"
    restarted = "all pods together, by JobSet"
    deletes = DELETES
    restarts_gang = True
    has_peers = True

    def host(self, job: Job, name: str) -> str:
        return host_of(job, name)

    def explain_restart(self, context: Context, job: Job) -> None:
        explain_restart(context, job)

    def taken(self, job: Job) -> Iterator[tuple[str, Mapping[str, Quantity]]]:
        if job.spec.initializer is not None:
            downloads = len(job.spec.initializer.parts())
            asked = {"cpu": INITIALIZER_CPU * downloads, "memory": INITIALIZER_MEMORY * downloads}
            yield "its initializers ask for", asked

    def manifest(self, plan: Plan, job: TrainJob) -> Manifest:
        old = (chart_version(plan, TRAINER_CHART) or "").startswith("2.1.")
        body = _body(job, overrides=old)
        return Manifest(body, file_of(JOBS, body), job.at, job_origins(job, old), WORDS)

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        trainer = spec / "trainer"
        resources = trainer / "resourcesPerNode"
        requests = resources / "requests"
        limits = resources / "limits"
        labels = labels_of(body)
        of_job, of_trainer = spec.mapping(), trainer.mapping()
        processes = of_trainer.get("numProcPerNode")
        count = as_integer(processes)
        requested, limited = requests.quantities(), limits.quantities()
        yield TrainJob(
            at=body.at,
            name=name_of(body),
            namespace=namespace_of(body),
            runtime=as_text(value_at(of_job, "runtimeRef", "name")) or "",
            unread=unread(
                nodes=trainer / "numNodes",
                requests=requests,
                limits=limits,
                claims=resources / "claims",
            ),
            origins=Places(body.at, _PLACES),
            runtime_kind=as_text(value_at(of_job, "runtimeRef", "kind"))
            or "ClusterTrainingRuntime",
            queue=labels.pop(QUEUE, None),
            priority=labels.pop(PRIORITY, None),
            trainer=bool(trainer),
            nodes=as_integer(of_trainer.get("numNodes")),
            processes=as_text(processes) if count is None else count,
            image=as_text(of_trainer.get("image")),
            command=tuple(texts_at(of_trainer, "command")),
            args=tuple(texts_at(of_trainer, "args")),
            env=env(trainer / "env"),
            requests=as_meant(requested),
            limits=as_meant(limited),
            misspelt=misspelt(requests=requested, limits=limited),
            patches=_all_patches(spec),
            suspend=as_flag(of_job.get("suspend")),
            managed_by=as_text(of_job.get("managedBy")),
            deadline=as_integer(of_job.get("activeDeadlineSeconds")),
            prune=pruned(body),
            labels=labels,
            annotations=own_annotations(body),
            initializers=tuple(_initializers(spec / "initializer")),
        )


_PLACES = {
    "nodes": ("spec", "trainer", "numNodes"),
    "image": ("spec", "trainer", "image"),
    "command": ("spec", "trainer", "command"),
    "args": ("spec", "trainer", "args"),
    "env": ("spec", "trainer", "env"),
    "requests": ("spec", "trainer", "resourcesPerNode", "requests"),
    "limits": ("spec", "trainer", "resourcesPerNode", "limits"),
    "queue": ("metadata", "labels", QUEUE),
    "priority": ("metadata", "labels", PRIORITY),
    "runtime": ("spec", "runtimeRef", "name"),
    "suspend": ("spec", "suspend"),
    "managed_by": ("spec", "managedBy"),
    "patches": ("spec", "runtimePatches"),
    "processes": ("spec", "trainer", "numProcPerNode"),
    "deadline": ("spec", "activeDeadlineSeconds"),
    "name": ("metadata", "name"),
    "trainer": ("spec", "trainer"),
    "namespace": ("metadata", "namespace"),
}


# --- what is written


def _body(job: TrainJob, *, overrides: bool) -> Body:
    """TrainJob. ``overrides``: patches in the form of Trainer 2.1."""
    metadata = job_head(job, KIND.api, KIND.kind)
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
    spec = fields_given(
        runtimeRef=runtime_ref,
        activeDeadlineSeconds=job.deadline,
        managedBy=job.managed_by,
        initializer=initializers,
        trainer=_trainer(job) if job.trainer else None,
        **patches,
    )
    return {**metadata, "spec": spec}


def _source(source: InitializerSource) -> Body:
    return fields_given(
        storageUri=source.uri,
        env=env_bodies(source.env),
        secretRef={"name": source.secret} if source.secret else None,
    )


def _trainer(job: TrainJob) -> Body:
    resources = fields_given(requests=quantities(job.requests), limits=quantities(job.limits))
    return fields_given(
        numNodes=job.nodes,
        numProcPerNode=job.processes,
        image=job.image,
        command=list(job.command),
        args=list(job.args),
        env=env_bodies(job.env),
        resourcesPerNode=resources,
    )


def _override(patch: Patch) -> Body:
    return fields_given(
        targetJobs=[{"name": patch.job}], metadata=_metadata(patch.pod), spec=pod_spec(patch.pod)
    )


def _patches(patches: Iterable[Patch]) -> list[Body]:
    """runtimePatches: a list by manager, so that those of one manager are one entry."""
    jobs: dict[str, list[Body]] = {}
    for patch in patches:
        metadata = _metadata(patch.pod)
        pod = fields_given(metadata=metadata, spec=pod_spec(patch.pod))
        job = {"name": patch.job, "template": {"spec": {"template": pod}}}
        jobs.setdefault(patch.manager, []).append(job)
    return [
        {"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": own}}}}
        for manager, own in jobs.items()
    ]


def _metadata(pod: Pod) -> Body:
    labels = dict(pod.labels)
    return fields_given(labels=labels, annotations=dict(pod.annotations))


# --- what is read


def _initializers(body: Reader) -> Iterator[InitializerSource]:
    """What each initializer downloads."""
    for name, source in body.entries():
        secret = source.follow("secretRef", "name")
        yield InitializerSource(
            at=source.at,
            name=name,
            uri=(source / "storageUri").text(),
            secret=secret.text(),
            env=env(source / "env"),
        )


def _all_patches(spec: Reader) -> tuple[Patch, ...]:
    """The patches of either form; most jobs have none."""
    if spec.mapping().keys().isdisjoint(("runtimePatches", "podTemplateOverrides")):
        return ()
    return (*_patches_of(spec), *_overrides(spec))


def _patches_of(spec: Reader) -> Iterator[Patch]:
    """runtimePatches, Trainer 2.2 on."""
    for patch in (spec / "runtimePatches").items():
        manager = patch / "manager"
        jobset = patch.follow("trainingRuntimeSpec", "template", "spec")
        for job in (jobset / "replicatedJobs").items():
            name = job / "name"
            yield Patch(
                at=job.at,
                job=name.word(),
                pod=pod(job.follow("template", "spec", "template")),
                manager=manager.word(),
                origins={"job": name.at, "manager": manager.at},
            )


def _overrides(spec: Reader) -> Iterator[Patch]:
    """podTemplateOverrides, Trainer 2.1; they have no manager."""
    for override in (spec / "podTemplateOverrides").items():
        for target in (override / "targetJobs").items():
            yield Patch(
                at=override.at,
                job=(target / "name").word(),
                pod=pod(override),
                origins={"job": (target / "name").at},
            )


KIND = OfTrainer()
