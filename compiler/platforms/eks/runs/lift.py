"""Lift: training runtimes and TrainJobs of Trainer 2.1 to 2.3."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pods.plan import ReplicatedJob
from compiler.lift.pods import as_meant, env, misspelt, pod
from compiler.lift.reader import Reader, labels_of, name_of, namespace_of, pruned, unread
from compiler.plan.base import PlanNode
from compiler.platforms.eks.runs.plan import FileSet, InitializerSource, Patch, Runtime, TrainJob

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
_OF_FLUX = "kustomize.toolkit.fluxcd.io/"
_FRAMEWORKS = ("torch", "mpi", "jax", "xgboost", "flux")


def runtime(body: Reader) -> Iterator[PlanNode]:
    """ClusterTrainingRuntime and TrainingRuntime."""
    spec = body / "spec"
    policy = spec / "mlPolicy"
    jobset = spec.follow("template", "spec")
    failure = jobset / "failurePolicy"
    jobs = jobset / "replicatedJobs"
    max_restarts, max_restarts_at = None, jobset.at
    if failure:
        # JobSet's default is no restart at all; with a failurePolicy maxRestarts is 0 unless it says so.
        max_restarts = (failure / "maxRestarts").integer() or 0
        max_restarts_at = (failure / "maxRestarts").at
    yield Runtime(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        unread=unread(nodes=policy / "numNodes"),
        origins={
            "max_restarts": max_restarts_at,
            "framework": policy.at,
            "jobs": jobs.at,
            "nodes": (policy / "numNodes").at,
            "restart_strategy": (failure / "restartStrategy").at,
        },
        jobs=tuple(_replicated(job) for job in jobs.items()),
        framework=_framework(policy),
        nodes=(policy / "numNodes").integer(),
        max_restarts=max_restarts,
        restart_strategy=(failure / "restartStrategy").text(),
        prune=pruned(body),
        settings=_settings(policy),
        decisive=jobset.follow("successPolicy", "targetReplicatedJobs").texts(),
    )


def _settings(policy: Reader) -> dict[str, str | int | bool]:
    """What the source of an ML policy says in plain values."""
    framework = _framework(policy)
    if framework is None:
        return {}
    values = (policy / framework).mapping()
    return {key: value for key, value in values.items() if isinstance(value, str | int | bool)}


def _framework(policy: Reader) -> str | None:
    for framework in _FRAMEWORKS:
        if policy / framework:
            return framework
    return None


def _replicated(body: Reader) -> ReplicatedJob:
    template = body / "template"
    job = template / "spec"
    replicas = (body / "replicas").integer()
    return ReplicatedJob(
        at=body.at,
        name=(body / "name").word(),
        step=template.follow("metadata", "labels", STEP).text(),
        origins={
            "step": template.follow("metadata", "labels").at,
            "backoff_limit": (job / "backoffLimit").at,
            "replicas": (body / "replicas").at,
        },
        pod=pod(job / "template"),
        replicas=1 if replicas is None else replicas,
        backoff_limit=(job / "backoffLimit").integer(),
        depends_on=_dependencies(body, "Complete"),
        ready_after=_dependencies(body, "Ready"),
    )


def _dependencies(body: Reader, status: str) -> tuple[str, ...]:
    """The replicated jobs of which a state is waited for."""
    names = [
        (item / "name").word()
        for item in (body / "dependsOn").items()
        if (item / "status").text() == status
    ]
    return tuple(names)


def train_job(body: Reader) -> Iterator[PlanNode]:
    """TrainJob."""
    spec = body / "spec"
    trainer = spec / "trainer"
    ref = spec / "runtimeRef"
    labels = labels_of(body)
    place = body.follow("metadata", "labels")
    nodes = trainer / "numNodes"
    processes = trainer / "numProcPerNode"
    image = trainer / "image"
    variables = trainer / "env"
    command = trainer / "command"
    args = trainer / "args"
    resources = trainer / "resourcesPerNode"
    requests = resources / "requests"
    limits = resources / "limits"
    suspend = spec / "suspend"
    managed_by = spec / "managedBy"
    deadline = spec / "activeDeadlineSeconds"
    count = processes.integer()
    requested, limited = requests.quantities(), limits.quantities()
    yield TrainJob(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        runtime=(ref / "name").word(),
        unread=unread(nodes=nodes, requests=requests, limits=limits, claims=resources / "claims"),
        origins={
            "nodes": nodes.at,
            "image": image.at,
            "command": command.at,
            "args": args.at,
            "env": variables.at,
            "requests": requests.at,
            "limits": limits.at,
            "queue": (place / QUEUE).at,
            "priority": (place / PRIORITY).at,
            "runtime": (ref / "name").at,
            "suspend": suspend.at,
            "managed_by": managed_by.at,
            "patches": (spec / "runtimePatches").at,
            "processes": processes.at,
            "deadline": deadline.at,
            "name": body.follow("metadata", "name").at,
            "trainer": trainer.at,
            "namespace": body.follow("metadata", "namespace").at,
        },
        runtime_kind=(ref / "kind").text() or "ClusterTrainingRuntime",
        queue=labels.pop(QUEUE, None),
        priority=labels.pop(PRIORITY, None),
        trainer=bool(trainer),
        nodes=nodes.integer(),
        processes=processes.text() if count is None else count,
        image=image.text(),
        command=command.texts(),
        args=args.texts(),
        env=env(variables),
        requests=as_meant(requested),
        limits=as_meant(limited),
        misspelt=misspelt(requests=requested, limits=limited),
        patches=(*_patches(spec), *_overrides(spec)),
        suspend=suspend.flag(),
        managed_by=managed_by.text(),
        deadline=deadline.integer(),
        prune=pruned(body),
        labels=labels,
        annotations=own_annotations(body),
        initializers=tuple(_initializers(spec / "initializer")),
    )


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


def own_annotations(body: Reader) -> dict[str, str]:
    """The annotations that are not about how Flux applies the object."""
    annotations = body.follow("metadata", "annotations").strings()
    own = {}
    for key, value in annotations.items():
        of_flux = key.startswith(_OF_FLUX)
        if not of_flux:
            own[key] = value
    return own


def _patches(spec: Reader) -> Iterator[Patch]:
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


def files(body: Reader) -> Iterator[PlanNode]:
    """A ConfigMap with the files of jobs."""
    if labels_of(body).get(_FILES) != "true":
        return
    data = body / "data"
    entries = data.entries()
    yield FileSet(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        files=data.strings(),
        prune=pruned(body),
        origins={f"files.{key}": entry.at for key, entry in entries},
    )


_FILES = "trainyard.dev/files"
_GROUP = "trainer.kubeflow.org"
KINDS = {
    f"{_GROUP}/ClusterTrainingRuntime": runtime,
    f"{_GROUP}/TrainingRuntime": runtime,
    f"{_GROUP}/TrainJob": train_job,
    "/ConfigMap": files,
}
