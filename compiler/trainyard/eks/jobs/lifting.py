"""Helpers that lift several kinds of jobs, ours and third-party."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from trainyard.core.pods.plan import Container, Pod, ReplicatedJob
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.language.places import Route
from trainyard.language.shellwords import split
from trainyard.language.units import count
from trainyard.lift.pods import pod
from trainyard.lift.reader import Reader, labels_of, name_of, namespace_of, pruned
from trainyard.plan.base import PlanItem

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
_OF_FLUX = "kustomize.toolkit.fluxcd.io/"
_TRAINER = "trainer"
_LEAST = "kueue.x-k8s.io/job-min-parallelism"
_FIRST = ("Master", "Launcher", "node", "worker", "pods", "")
Settings = dict[str, str | int | bool]


class Part(NamedTuple):
    """A part of a workload: its name, its pod template, and how many pods of it there are at once, ``None`` where that
    is unknown, with the field that says so. ``beside``: they are no nodes of the training. ``alone``: each of them may
    run without the others. ``backoff`` is how many of its pods may fail, ``policy`` how they restart, where that stands
    beside the template."""

    name: str
    template: Reader
    pods: int | None
    counted: Reader | None = None
    beside: bool = False
    alone: bool = False
    backoff: Reader | None = None
    policy: Reader | None = None


class JobFields(NamedTuple):
    """Where an object says what every kind of job has. ``nodes`` (of several parts, the most), ``least_nodes`` and
    ``processes``: only where they stand in a field of their own; ``entrypoint``: a line of shell with the program."""

    deadline: Reader
    max_restarts: Reader | None = None
    nodes: Reader | None = None
    least_nodes: Reader | None = None
    processes: Reader | None = None
    entrypoint: Reader | None = None


def own_runtime(
    body: Reader,
    kind: str,
    main: str,
    parts: Sequence[ReplicatedJob],
    *,
    framework: str | None,
    settings: Settings | None = None,
) -> Runtime:
    """The pods of an object as a runtime, with the program in them."""
    return Runtime(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        kind=kind,
        main=main,
        jobs=tuple(parts),
        framework=framework,
        prune=pruned(body),
        settings=settings or {},
    )


def job_and_pods(
    body: Reader,
    runtime: Runtime,
    fields: JobFields,
    *,
    nodes: int | None,
    processes: int | str | None = None,
) -> Iterator[PlanItem]:
    """The job of an object, and its pods as a runtime. The part that takes the program gives it to the job."""
    first = next((part for part in runtime.jobs if part.name in _FIRST), None)
    program = _program(body, first, runtime.main, fields.entrypoint)
    yield _without_program(runtime, first, fields.max_restarts)
    yield _own_job(body, runtime, program, fields, nodes=nodes, processes=processes)


def _without_program(
    runtime: Runtime, first: ReplicatedJob | None, max_restarts: Reader | None
) -> Runtime:
    """The runtime as a job finds it: ``first`` is the part that takes its program."""
    jobs = tuple(
        _as_trainer(part, runtime.main) if part is first else part for part in runtime.jobs
    )
    if max_restarts is None:
        return replace(runtime, jobs=jobs)
    places = {"max_restarts": max_restarts.at}
    return replace(runtime, jobs=jobs, max_restarts=max_restarts.integer(), origins=places)


def _own_job(
    body: Reader,
    runtime: Runtime,
    program: Container,
    fields: JobFields,
    *,
    nodes: int | None,
    processes: int | str | None,
) -> TrainJob:
    labels = labels_of(body)
    annotations = own_annotations(body)
    fewest = count(annotations.pop(_LEAST, None))
    if fields.least_nodes is not None:
        fewest = fields.least_nodes.integer()
    return TrainJob(
        at=body.at,
        name=runtime.name,
        namespace=runtime.namespace,
        kind=runtime.kind,
        runtime=runtime.name,
        runtime_kind=runtime.kind,
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
        deadline=fields.deadline.integer(),
        managed_by=_managed_by(body).text(),
        suspend=_suspend(body).flag(),
        prune=pruned(body),
        labels=labels,
        annotations=annotations,
        least_nodes=fewest,
        unread=program.unread,
        origins=_places(body, program, fields),
    )


def _program(
    body: Reader, first: ReplicatedJob | None, main: str, entrypoint: Reader | None
) -> Container:
    """The container that runs the program; where none can be read, an empty one at the object's place."""
    program = first.pod.container(main) if first is not None else None
    if program is None:
        program = Container(at=body.at, name=main)
    if entrypoint is not None:
        program = _started_by(program, entrypoint)
    return program


def _places(body: Reader, program: Container, fields: JobFields) -> dict[str, Route]:
    """Where what the job says stands."""
    labels = body.follow("metadata", "labels")
    places = {
        **program.origins,
        "kind": (body / "kind").at,
        "queue": (labels / QUEUE).at,
        "least_nodes": body.follow("metadata", "annotations", _LEAST).at,
        "priority": (labels / PRIORITY).at,
        "deadline": fields.deadline.at,
        "suspend": _suspend(body).at,
        "managed_by": _managed_by(body).at,
        "name": body.follow("metadata", "name").at,
        "namespace": body.follow("metadata", "namespace").at,
        "runtime": (body / "spec").at,
        "trainer": (body / "spec").at,
    }
    counts = {
        "nodes": fields.nodes,
        "processes": fields.processes,
        "least_nodes": fields.least_nodes,
    }
    return places | {name: field.at for name, field in counts.items() if field is not None}


def _started_by(program: Container, entrypoint: Reader) -> Container:
    """The program that another line of shell in the container starts."""
    words = words_of(entrypoint.text() or "")
    places = {"command": entrypoint.at, "args": entrypoint.at}
    return replace(program, command=words, args=(), origins={**program.origins, **places})


def words_of(line: str) -> tuple[str, ...]:
    """The words of a line of shell; the line itself where a quote in it does not end."""
    try:
        return tuple(split(line))
    except ValueError:
        return (line,)


def run_policy(body: Reader) -> Reader:
    spec = body / "spec"
    return spec / "runPolicy" or spec


def _suspend(body: Reader) -> Reader:
    return run_policy(body) / "suspend"


def _managed_by(body: Reader) -> Reader:
    return run_policy(body) / "managedBy"


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


def replicas(specs: Reader) -> list[ReplicatedJob]:
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


def replica_count(parts: Sequence[ReplicatedJob]) -> int:
    return sum(part.replicas for part in parts)


def settings_of(body: Reader, *names: str) -> Settings:
    settings: Settings = {}
    for name in names:
        value = (body / name).value
        if isinstance(value, str | int | bool):
            settings[name] = value
    return settings


def parallelism(job: Reader) -> int:
    count = (job / "parallelism").integer()
    return 1 if count is None else count


def framework_of(pods: Sequence[Pod]) -> str | None:
    """Torch, where the first pod has the variables of torchrun that Trainer would set."""
    names = {
        variable.name
        for own in pods[:1]
        for container in own.containers
        for variable in container.env
    }
    return "torch" if "PET_NNODES" in names else None


def own_annotations(body: Reader) -> dict[str, str]:
    """The annotations that are not about how Flux applies the object."""
    annotations = body.follow("metadata", "annotations").strings()
    own = {}
    for key, value in annotations.items():
        of_flux = key.startswith(_OF_FLUX)
        if not of_flux:
            own[key] = value
    return own


def replica_parts(body: Reader) -> Iterator[Part]:
    """``pytorchReplicaSpecs`` and the like: by role. The launcher of MPI is no node of the training, unless it runs
    ranks as the workers do."""
    ranks = body.follow("spec", "runLauncherAsWorker").flag()
    for field, specs in (body / "spec").entries():
        if not field.endswith("ReplicaSpecs"):
            continue
        for role, replica in specs.entries():
            counted = replica / "replicas"
            yield Part(
                role,
                replica / "template",
                one_or(counted),
                counted,
                beside=role == "Launcher" and not ranks,
                policy=replica / "restartPolicy",
            )


def one_or(value: Reader) -> int | None:
    return value.integer() if value else 1


def count_or_text(text: str | None) -> int | str | None:
    number = count(text)
    return text if number is None else number


def part_of_job(job: Reader) -> Part:
    """The pods of a Job; those of one that is not indexed need not know each other."""
    counted = job / "parallelism"
    pods = at_once(job)
    alone = pods != 1 and (job / "completionMode").value != "Indexed"
    return Part("", job / "template", pods, counted, alone=alone, backoff=job / "backoffLimit")


def at_once(job: Reader) -> int | None:
    """How many pods of a Job run at once: no more than have to complete (kueue v0.19.2, job and jobset)."""
    parallel = one_or(job / "parallelism")
    completions = (job / "completions").integer()
    if parallel is None or completions is None:
        return parallel
    return min(parallel, completions)


def fewest(body: Reader) -> int | None:
    """With how few pods a workload may start: as a Job that Kueue admits in part, an elastic PyTorchJob, or a Job of
    Volcano, whose gang is ``minAvailable``."""
    partial = count(own_annotations(body).get(_LEAST))
    if partial is not None:
        return partial
    elastic = body.follow("spec", "elasticPolicy", "minReplicas")
    return (elastic or body.follow("spec", "minAvailable")).integer()
