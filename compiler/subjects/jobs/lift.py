"""Lift: training runtimes and TrainJobs of Trainer 2.1 to 2.3."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lift.pods import env, pod
from compiler.lift.reader import (
    Reader,
    labels_of,
    name_of,
    namespace_of,
    pruned,
    unread,
)
from compiler.plan.base import PlanNode
from compiler.subjects.jobs.plan import FileSet, Patch, ReplicatedJob, Runtime, TrainJob

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
_OF_FLUX = "kustomize.toolkit.fluxcd.io/"
_FRAMEWORKS = ("torch", "mpi", "jax", "xgboost", "flux")


def runtime(body: Reader) -> Iterator[PlanNode]:
    """ClusterTrainingRuntime and TrainingRuntime."""
    spec = body / "spec"
    policy, jobset = spec / "mlPolicy", spec.follow("template", "spec")
    failure = jobset / "failurePolicy"
    yield Runtime(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        unread=unread(nodes=policy / "numNodes"),
        origins={
            "max_restarts": (failure / "maxRestarts").at if failure else jobset.at,
            "framework": policy.at,
            "jobs": (jobset / "replicatedJobs").at,
            "nodes": (policy / "numNodes").at,
            "restart_strategy": (failure / "restartStrategy").at,
        },
        jobs=tuple(_replicated(each) for each in (jobset / "replicatedJobs").items()),
        framework=next((each for each in _FRAMEWORKS if (policy / each)), None),
        nodes=(policy / "numNodes").integer(),
        # JobSet's default is no restart at all; with a failurePolicy maxRestarts is 0 unless it says so.
        max_restarts=((failure / "maxRestarts").integer() or 0) if failure else None,
        restart_strategy=(failure / "restartStrategy").text(),
        prune=pruned(body),
    )


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
        depends_on=tuple(
            (each / "name").word() for each in (body / "dependsOn").items()
        ),
    )


def train_job(body: Reader) -> Iterator[PlanNode]:
    """TrainJob."""
    spec = body / "spec"
    trainer, ref = spec / "trainer", spec / "runtimeRef"
    resources, labels = trainer / "resourcesPerNode", labels_of(body)
    place = body.follow("metadata", "labels")
    processes, nodes, image, command, args = (
        trainer / each
        for each in ("numProcPerNode", "numNodes", "image", "command", "args")
    )
    requests, limits, variables = (
        resources / "requests",
        resources / "limits",
        trainer / "env",
    )
    suspend, managed_by, deadline = (
        spec / "suspend",
        spec / "managedBy",
        spec / "activeDeadlineSeconds",
    )
    yield TrainJob(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        runtime=(ref / "name").word(),
        unread=unread(
            nodes=nodes, requests=requests, limits=limits, claims=resources / "claims"
        ),
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
        processes=processes.integer()
        if processes.integer() is not None
        else processes.text(),
        image=image.text(),
        command=command.texts(),
        args=args.texts(),
        env=env(variables),
        requests=requests.quantities(),
        limits=limits.quantities(),
        patches=(*_patches(spec), *_overrides(spec)),
        suspend=suspend.flag(),
        managed_by=managed_by.text(),
        deadline=deadline.integer(),
        prune=pruned(body),
        labels=labels,
        annotations=_own_annotations(body),
    )


def _own_annotations(body: Reader) -> dict[str, str]:
    """The annotations that are not about how Flux applies the object."""
    given = body.follow("metadata", "annotations").strings()
    return {key: value for key, value in given.items() if not key.startswith(_OF_FLUX)}


def _patches(spec: Reader) -> Iterator[Patch]:
    """runtimePatches, Trainer 2.2 on."""
    for each in (spec / "runtimePatches").items():
        manager = (each / "manager").word()
        for job in each.follow(
            "trainingRuntimeSpec", "template", "spec", "replicatedJobs"
        ).items():
            template = job.follow("template", "spec", "template")
            yield Patch(
                at=job.at,
                job=(job / "name").word(),
                pod=pod(template),
                manager=manager,
                origins={"job": (job / "name").at, "manager": (each / "manager").at},
            )


def _overrides(spec: Reader) -> Iterator[Patch]:
    """podTemplateOverrides, Trainer 2.1; they have no manager."""
    for each in (spec / "podTemplateOverrides").items():
        for target in (each / "targetJobs").items():
            yield Patch(
                at=each.at,
                job=(target / "name").word(),
                pod=pod(each),
                origins={"job": (target / "name").at},
            )


def files(body: Reader) -> Iterator[PlanNode]:
    """A ConfigMap with the files of jobs."""
    if labels_of(body).get(_FILES) != "true":
        return
    data = body / "data"
    yield FileSet(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        files=data.strings(),
        prune=pruned(body),
        origins={f"files.{key}": entry.at for key, entry in data.entries()},
    )


_FILES = "trainyard.dev/files"
_GROUP = "trainer.kubeflow.org"
KINDS = {
    f"{_GROUP}/ClusterTrainingRuntime": runtime,
    f"{_GROUP}/TrainingRuntime": runtime,
    f"{_GROUP}/TrainJob": train_job,
    "/ConfigMap": files,
}
