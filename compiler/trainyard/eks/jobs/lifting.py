"""Helpers that lift several kinds of jobs, ours and third-party."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar, NamedTuple, Protocol

from trainyard.core.pods.plan import Container, Pod, ReplicatedJob
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.language.dataclass import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many nodes an object asks for, and processes on each. ``counted``, ``least`` and ``started``: where its nodes
    (of several parts, the most), the fewest with which it starts, and the processes stand in a field of their own."""

    nodes: int | None
    processes: int | str | None = None
    counted: Reader | None = None
    least: Reader | None = None
    started: Reader | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How an object is run: what starts its processes, how often it is tried again and what then begins anew, which
    parts decide its end, and the fields that its kind alone has."""

    framework: str | None
    max_restarts: Reader | None = None
    strategy: str | None = None
    decisive: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)


class Named(Protocol):
    """A kind of job: its name, and that of the container which runs the program."""

    name: ClassVar[str]
    main: ClassVar[str]


def job_and_pods(
    kind: Named,
    body: Reader,
    parts: Sequence[ReplicatedJob],
    counts: Counts,
    terms: Terms,
    *,
    deadline: Reader,
    entrypoint: Reader | None = None,
) -> Iterator[PlanItem]:
    """The job of an object, and its pods as a runtime. The part that takes the program gives it to the job, unless the
    object has an ``entrypoint``."""
    name = name_of(body)
    namespace = namespace_of(body)
    leading = (part for part in parts if part.name in _FIRST)
    first = next(leading, None)
    program = _program(body, first, kind.main, entrypoint)
    jobs = tuple(_as_trainer(part, kind.main) if part is first else part for part in parts)
    restarts = None
    places = dict[str, Route]()
    if terms.max_restarts is not None:
        restarts = terms.max_restarts.integer()
        places = {"max_restarts": terms.max_restarts.at}
    yield Runtime(
        at=body.at,
        name=name,
        namespace=namespace,
        kind=kind.name,
        main=kind.main,
        jobs=jobs,
        framework=terms.framework,
        max_restarts=restarts,
        restart_strategy=terms.strategy,
        prune=pruned(body),
        settings=terms.settings,
        decisive=terms.decisive,
        origins=places,
    )
    labels = labels_of(body)
    of_counts = {"nodes": counts.counted, "processes": counts.started, "least_nodes": counts.least}
    annotations = own_annotations(body)
    fewest = count(annotations.pop(_LEAST, None))
    if counts.least is not None:
        fewest = counts.least.integer()
    yield TrainJob(
        at=body.at,
        name=name,
        namespace=namespace,
        kind=kind.name,
        runtime=name,
        runtime_kind=kind.name,
        queue=labels.pop(QUEUE, None),
        priority=labels.pop(PRIORITY, None),
        nodes=counts.nodes,
        processes=counts.processes,
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
        least_nodes=fewest,
        unread=program.unread,
        origins=_places(body, program, deadline, of_counts),
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


def _places(
    body: Reader, program: Container, deadline: Reader, of_counts: Mapping[str, Reader | None]
) -> dict[str, Route]:
    """Where what the job says stands; ``of_counts``: counts that have a field of their own."""
    labels = body.follow("metadata", "labels")
    places = {
        **program.origins,
        "kind": (body / "kind").at,
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
    return places | {name: field.at for name, field in of_counts.items() if field is not None}


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
    for key, specs in (body / "spec").entries():
        if not key.endswith("ReplicaSpecs"):
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
