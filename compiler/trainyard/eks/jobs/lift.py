"""Lift: training runtimes of Trainer 2.1 to 2.3, jobs, and their files."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import ReplicatedJob
from trainyard.eks.jobs.kinds import kind_called, kinds
from trainyard.eks.jobs.plan import TRAIN_JOB, FileSet, Runtime
from trainyard.lift.pods import pod
from trainyard.lift.reader import Reader, labels_of, name_of, namespace_of, pruned, unread
from trainyard.plan.base import PlanItem

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_FRAMEWORKS = ("torch", "mpi", "jax", "xgboost", "flux")


def runtime(body: Reader) -> Iterator[PlanItem]:
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
            "settings": (policy / (_framework(policy) or "torch")).at,
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


def files(body: Reader) -> Iterator[PlanItem]:
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
    f"{_GROUP}/TrainJob": kind_called(TRAIN_JOB).lift,
    "/ConfigMap": files,
}
OWN = {
    f"{kind.group}/{kind.kind}": kind.lift for kind in kinds().values() if kind.name != TRAIN_JOB
}
"""Readers for our own objects; of third-party ones only the pods are read (``eks/third_party_workloads``)."""
