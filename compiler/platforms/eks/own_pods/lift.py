"""Lift: our own jobs whose objects have their pods themselves, as a job and the runtime that it stands for.

Third-party objects of these kinds are read as workloads (``compiler.platforms.eks.workloads``).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from compiler.core.pods.plan import HEAD, Container, Pod, ReplicatedJob
from compiler.lift.pods import pod
from compiler.lift.reader import Reader, labels_of, name_of, namespace_of, pruned
from compiler.places import Route
from compiler.plan.base import PlanNode
from compiler.platforms.eks.runs.lift import PRIORITY, QUEUE, own_annotations
from compiler.platforms.eks.runs.plan import JOB_KINDS, Runtime, TrainJob

CLOSED_ONLY = True
"""Of our own output alone what belongs together is known."""

_TRAINER = "trainer"
_LEAST = "kueue.x-k8s.io/job-min-parallelism"
_FIRST = ("Master", "Launcher", "node", "worker", "")
Settings = dict[str, str | int | bool]


def _nodes(
    body: Reader,
    parts: Sequence[ReplicatedJob],
    *,
    nodes: int | None,
    processes: int | str | None = None,
    deadline: Reader,
    max_restarts: Reader | None = None,
    framework: str | None,
    settings: Settings | None = None,
    strategy: str | None = None,
    decisive: tuple[str, ...] = (),
    entrypoint: Reader | None = None,
    counted: Reader | None = None,
) -> Iterator[PlanNode]:
    """The job of an object, and its pods as a runtime. The part that takes the program gives it to the job."""
    kind = (body / "kind").word()
    main = JOB_KINDS[kind].main
    name = name_of(body)
    namespace = namespace_of(body)
    leading = (part for part in parts if part.name in _FIRST)
    first = next(leading, None)
    program = None
    if first is not None:
        program = first.pod.container(main)
    if program is None:
        program = Container(at=body.at, name=main)
    if entrypoint is not None:
        program = _started_by(program, entrypoint)
    jobs = []
    for part in parts:
        if part is first:
            part = _as_trainer(part, main)
        jobs.append(part)
    restarts = None
    places = dict[str, Route]()
    if max_restarts is not None:
        restarts = max_restarts.integer()
        places = {"max_restarts": max_restarts.at}
    yield Runtime(
        at=body.at,
        name=name,
        namespace=namespace,
        kind=kind,
        jobs=tuple(jobs),
        framework=framework,
        max_restarts=restarts,
        restart_strategy=strategy,
        prune=pruned(body),
        settings=settings or {},
        decisive=decisive,
        origins=places,
    )
    labels = labels_of(body)
    place = body.follow("metadata", "labels")
    own_places = _places(body, program, place, deadline)
    if counted is not None:
        own_places["nodes"] = counted.at
    annotations = own_annotations(body)
    yield TrainJob(
        at=body.at,
        name=name,
        namespace=namespace,
        kind=kind,
        runtime=name,
        runtime_kind=kind,
        queue=labels.pop(QUEUE, None),
        priority=labels.pop(PRIORITY, None),
        nodes=nodes,
        processes=processes,
        image=program.image,
        command=program.command,
        args=program.args,
        env=program.env,
        requests=program.requests,
        limits=program.limits,
        misspelt=program.misspelt,
        deadline=deadline.integer(),
        managed_by=_managed_by(body).text(),
        suspend=_suspend(body).flag(),
        prune=pruned(body),
        labels=labels,
        annotations=annotations,
        least_nodes=_number(annotations.pop(_LEAST, None)),
        unread=program.unread,
        origins=own_places,
    )


def _places(body: Reader, program: Container, labels: Reader, deadline: Reader) -> dict[str, Route]:
    return {
        **program.origins,
        "queue": (labels / QUEUE).at,
        "least_nodes": body.follow("metadata", "annotations", _LEAST).at,
        "priority": (labels / PRIORITY).at,
        "deadline": deadline.at,
        "suspend": _suspend(body).at,
        "managed_by": _managed_by(body).at,
        "name": body.follow("metadata", "name").at,
        "namespace": body.follow("metadata", "namespace").at,
        "runtime": (body / "spec").at,
        "trainer": (body / "spec").at,
    }


def _started_by(program: Container, entrypoint: Reader) -> Container:
    """The program of a container that a line of shell beside it starts."""
    line = entrypoint.text() or ""
    try:
        words = shlex.split(line)
    except ValueError:
        words = [line]
    places = {"command": entrypoint.at, "args": entrypoint.at}
    return replace(program, command=tuple(words), args=(), origins={**program.origins, **places})


def _policy(body: Reader) -> Reader:
    spec = body / "spec"
    return spec / "runPolicy" or spec


def _suspend(body: Reader) -> Reader:
    return _policy(body) / "suspend"


def _managed_by(body: Reader) -> Reader:
    return _policy(body) / "managedBy"


def _as_trainer(part: ReplicatedJob, main: str) -> ReplicatedJob:
    """The part without the program, which the job has."""
    containers = []
    for container in part.pod.containers:
        if container.name == main:
            container = _bare(container)
        containers.append(container)
    own = replace(part.pod, containers=tuple(containers))
    return replace(part, step=_TRAINER, pod=own)


def _bare(container: Container) -> Container:
    return replace(
        container, image=None, command=(), args=(), env=(), requests={}, limits={}, misspelt=()
    )


def _replicas(specs: Reader) -> list[ReplicatedJob]:
    """Replicas by role (kubeflow.org)."""
    parts = []
    for role, replica in specs.entries():
        policy = replica / "restartPolicy"
        own = pod(replica / "template")
        own = replace(
            own, restart_policy=policy.text(), origins={**own.origins, "restart_policy": policy.at}
        )
        count = (replica / "replicas").integer()
        parts.append(
            ReplicatedJob(
                at=replica.at,
                name=role,
                step=None,
                pod=own,
                replicas=1 if count is None else count,
                origins={"replicas": (replica / "replicas").at},
            )
        )
    return parts


def _count(parts: Sequence[ReplicatedJob]) -> int:
    return sum(part.replicas for part in parts)


def pytorch_job(body: Reader) -> Iterator[PlanNode]:
    """PyTorchJob of kubeflow.org/v1."""
    spec = body / "spec"
    policy = _policy(body)
    parts = _replicas(spec / "pytorchReplicaSpecs")
    yield from _nodes(
        body,
        parts,
        nodes=_count(parts),
        processes=_count_or_text((spec / "nprocPerNode").text()),
        deadline=policy / "activeDeadlineSeconds",
        max_restarts=policy / "backoffLimit",
        framework="torch",
        settings=_settings(policy, "cleanPodPolicy"),
    )


def _count_or_text(text: str | None) -> int | str | None:
    number = _number(text)
    return text if number is None else number


def _number(text: str | None) -> int | None:
    if text is not None and text.isdigit():
        return int(text)
    return None


def mpi_job(body: Reader) -> Iterator[PlanNode]:
    """MPIJob of kubeflow.org/v2beta1."""
    spec = body / "spec"
    policy = _policy(body)
    parts = _replicas(spec / "mpiReplicaSpecs")
    named = (
        "launcherCreationPolicy",
        "mpiImplementation",
        "runLauncherAsWorker",
        "sshAuthMountPath",
    )
    settings = {**_settings(policy, "cleanPodPolicy"), **_settings(spec, *named)}
    yield from _nodes(
        body,
        parts,
        nodes=_count(parts),
        processes=(spec / "slotsPerWorker").integer(),
        deadline=policy / "activeDeadlineSeconds",
        max_restarts=policy / "backoffLimit",
        framework="mpi",
        settings=settings,
    )


def _settings(body: Reader, *names: str) -> Settings:
    settings: Settings = {}
    for name in names:
        value = (body / name).value
        if isinstance(value, str | int | bool):
            settings[name] = value
    return settings


def job_set(body: Reader) -> Iterator[PlanNode]:
    """JobSet: each replicated job is one Job of as many pods as it has nodes."""
    spec = body / "spec"
    failure = spec / "failurePolicy"
    items = (spec / "replicatedJobs").items()
    alone = len(items) == 1
    parts = [_replicated(item, alone=alone) for item in items]
    counts = [_pods(item.follow("template", "spec")) for item in items]
    yield from _nodes(
        body,
        parts,
        nodes=sum(counts),
        deadline=spec / "activeDeadlineSeconds",
        max_restarts=failure / "maxRestarts",
        strategy=(failure / "restartStrategy").text(),
        decisive=spec.follow("successPolicy", "targetReplicatedJobs").texts(),
        framework=_framework([part.pod for part in parts]),
    )


def _replicated(item: Reader, *, alone: bool) -> ReplicatedJob:
    job = item.follow("template", "spec")
    return ReplicatedJob(
        at=item.at,
        name=(item / "name").word(),
        step=None,
        pod=pod(job / "template"),
        backoff_limit=(job / "backoffLimit").integer(),
        nodes=None if alone else _pods(job),
        origins={"backoff_limit": (job / "backoffLimit").at},
    )


def _pods(job: Reader) -> int:
    count = (job / "parallelism").integer()
    return 1 if count is None else count


def _framework(pods: Sequence[Pod]) -> str | None:
    """Torch, where the first pod has the variables of torchrun that Trainer would set."""
    names = {
        variable.name
        for own in pods[:1]
        for container in own.containers
        for variable in container.env
    }
    return "torch" if "PET_NNODES" in names else None


def plain_job(body: Reader) -> Iterator[PlanNode]:
    """Job of batch/v1."""
    spec = body / "spec"
    own = pod(spec / "template")
    limit = spec / "backoffLimit" or spec / "backoffLimitPerIndex"
    part = ReplicatedJob(
        at=spec.at,
        name="node",
        step=None,
        pod=own,
        backoff_limit=limit.integer(),
        origins={"backoff_limit": limit.at},
    )
    yield from _nodes(
        body,
        [part],
        nodes=_pods(spec),
        deadline=spec / "activeDeadlineSeconds",
        framework=_framework([own]),
    )


def ray_job(body: Reader) -> Iterator[PlanNode]:
    """RayJob of ray.io/v1: a head, and groups of workers."""
    spec = body / "spec"
    cluster = spec / "rayClusterSpec"
    head = cluster / "headGroupSpec"
    parts = [ReplicatedJob(at=head.at, name="head", step=HEAD, pod=pod(head / "template"))]
    groups = (cluster / "workerGroupSpecs").items()
    workers = [_group(group) for group in groups]
    yield from _nodes(
        body,
        [*parts, *workers],
        nodes=_count(workers),
        deadline=spec / "activeDeadlineSeconds",
        max_restarts=spec / "backoffLimit",
        framework="ray",
        settings=_settings(spec, "submissionMode", "shutdownAfterJobFinishes"),
        entrypoint=spec / "entrypoint",
        counted=groups[0] / "replicas" if groups else None,
    )


def _group(group: Reader) -> ReplicatedJob:
    """A group of workers: without a number it is one (kuberay v1.6.2)."""
    count = (group / "replicas").integer()
    return ReplicatedJob(
        at=group.at,
        name=(group / "groupName").word(),
        step=None,
        pod=pod(group / "template"),
        replicas=1 if count is None else count,
        origins={"replicas": (group / "replicas").at},
    )


KINDS = {
    "kubeflow.org/PyTorchJob": pytorch_job,
    "kubeflow.org/MPIJob": mpi_job,
    "jobset.x-k8s.io/JobSet": job_set,
    "batch/Job": plain_job,
    "ray.io/RayJob": ray_job,
}
