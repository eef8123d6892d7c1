"""Lift: pods of every other kind that has a pod template.

Sources: k8s.io/api v0.36 (core, apps, batch), jobset v0.12.0, training-operator v1.9.4, mpi-operator v0.8.2, KubeRay
v1.6.2, leaderworkerset v1, volcano ed72c7c8 (batch.volcano.sh/v1alpha1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from trainyard.core.pods.plan import Container, Pod
from trainyard.eks.jobs.kinds import kind_name, kinds
from trainyard.eks.jobs.kinds.ray_job import as_made_by_kuberay, ray_groups
from trainyard.eks.jobs.lifting import (
    QUEUE,
    Part,
    count_or_text,
    fewest,
    one_or,
    part_of_job,
    replica_parts,
    run_policy,
    words_of,
)
from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.eks.third_party_workloads.plan import PodSet, Workload
from trainyard.language.shellwords import split
from trainyard.lift.pods import pod
from trainyard.lift.reader import Reader, labels_of, name_of, namespace_of
from trainyard.plan.base import PlanItem

OPEN_ONLY = True
"""What we write ourselves is judged as what it is; these readers are for third-party manifests."""

Parts = Callable[[Reader], Iterator[Part]]
Made = Callable[[Reader, str, Pod], Pod]  # of an object, the name of a part, its pod


def reads(
    parts: Parts, *, together: bool = True, everywhere: bool = False, as_made: Made | None = None
) -> Callable[[Reader], Iterator[PlanItem]]:
    """The reader of a kind by its parts. ``together``: its pods are one job, and start and fail as one. ``as_made``:
    what their operator makes of a pod."""

    def read(body: Reader) -> Iterator[PlanItem]:
        pods: list[PodSet] = []
        counts: list[int | None] = []
        for part in parts(body):
            if not part.template:
                continue
            pods.append(_pod_set(body, part, as_made))
            if not part.beside:
                counts.append(None if part.alone else part.pods)
        kind = _kind(body)
        policy = run_policy(body)
        queue = body.follow("metadata", "labels", QUEUE)
        deadline = policy / "activeDeadlineSeconds"
        suspend, managed_by = policy / "suspend", policy / "managedBy"
        processes = _processes(body)
        restarts = body.follow(*_retries(kind))
        strategy = _strategy(body)
        yield Workload(
            at=body.at,
            kind=kind,
            name=_name(body),
            namespace=namespace_of(body),
            nodes=_total(counts) if together else None,
            least=fewest(body),
            deadline=deadline.integer(),
            queue=labels_of(body).get(QUEUE),
            everywhere=everywhere,
            processes=_count_or_text(processes),
            suspend=suspend.flag(),
            managed_by=managed_by.text(),
            max_restarts=restarts.integer(),
            strategy=strategy.word(),
            program=_program(body, pods),
            origins={
                "queue": queue.at,
                "deadline": deadline.at,
                "processes": processes.at,
                "suspend": suspend.at,
                "managed_by": managed_by.at,
                "max_restarts": restarts.at,
                "strategy": strategy.at,
            },
            pods=tuple(pods),
        )

    return read


def _pod_set(body: Reader, part: Part, as_made: Made | None) -> PodSet:
    own = pod(part.template)
    if as_made is not None:
        own = as_made(body, part.name, own)
    if part.policy is not None:
        places = {**own.origins, "restart_policy": part.policy.at}
        own = replace(own, restart_policy=part.policy.text(), origins=places)
    counted = {"count": part.counted, "backoff_limit": part.backoff}
    return PodSet(
        at=part.template.at,
        name=part.name,
        pod=own,
        count=part.pods,
        beside=part.beside or part.pods == 0,
        backoff_limit=part.backoff.integer() if part.backoff is not None else None,
        origins={name: field.at for name, field in counted.items() if field is not None},
    )


def _processes(body: Reader) -> Reader:
    """The processes of each node, of kinds that start them (training-operator v1.9.4, mpi-operator v0.8.2)."""
    spec = body / "spec"
    return spec / "nprocPerNode" or spec / "slotsPerWorker"


def _count_or_text(field: Reader) -> int | str | None:
    """A number, also one that is written as a text."""
    text = field.text()
    return field.integer() if text is None else count_or_text(text)


def _retries(kind: str) -> tuple[str, ...]:
    known = kinds().get(kind)
    if known is None or not known.retries:
        return ("spec", "runPolicy", "backoffLimit")
    return known.retries


def _strategy(body: Reader) -> Reader:
    """How all pods start again: as a JobSet says it, or a LeaderWorkerSet of each of its groups."""
    spec = body / "spec"
    of_groups = spec.follow("leaderWorkerTemplate", "restartPolicy")
    return of_groups or spec.follow("failurePolicy", "restartStrategy")


def _program(body: Reader, pods: Sequence[PodSet]) -> Container | None:
    """What runs the program for all nodes of a job: the launcher of MPI, or the line that Ray's head is given."""
    entrypoint = body.follow("spec", "entrypoint")
    line = entrypoint.text()
    if line is not None:
        places = {"command": entrypoint.at, "args": entrypoint.at}
        words = ("/bin/sh", "-c", line) if _has_several(line) else words_of(line)
        return Container(at=body.at, name="", command=words, origins={**places, "env": body.at})
    launcher = next((part for part in pods if part.name == "Launcher"), None)
    if launcher is None or not launcher.pod.containers:
        return None
    return launcher.pod.containers[0]


def _has_several(line: str) -> bool:
    """Whether a line of shell is of several commands, and not one with its words."""
    try:
        return split(line, ";&|") != split(line)
    except ValueError:
        return False


def _total(counts: list[int | None]) -> int | None:
    """The sum, unknown where one of them is."""
    known = [count for count in counts if count is not None]
    if len(known) == len(counts):
        return sum(known)
    return None


def _kind(body: Reader) -> str:
    group = (body / "apiVersion").word().rpartition("/")[0]
    return kind_name(group, (body / "kind").word())


def _name(body: Reader) -> str:
    """The name, or the beginning of one that the API server makes."""
    generated = body.follow("metadata", "generateName").word()
    return name_of(body) or f"{generated}…"


def _itself(body: Reader) -> Iterator[Part]:
    yield Part("", body, None)  # others may belong to it


def _template(body: Reader) -> Iterator[Part]:
    yield Part("", body.follow("spec", "template"), None)


def _cron_job(body: Reader) -> Iterator[Part]:
    yield part_of_job(body.follow("spec", "jobTemplate", "spec"))


def _ray(body: Reader) -> Iterator[Part]:
    """A cluster that jobs come to, or that serves."""
    spec = body / "spec"
    cluster = spec / "rayClusterConfig" or spec
    for group in ray_groups(cluster):
        yield Part(group.name, group.template, None)


def _leader_worker(body: Reader) -> Iterator[Part]:
    """The pods of one group, which are a gang of their own: without a template of its own the leader is as the workers
    are."""
    inner = body.follow("spec", "leaderWorkerTemplate")
    size = inner / "size"
    pods = one_or(size)
    if inner / "leaderTemplate":
        yield Part("leader", inner / "leaderTemplate", 1)
        pods = None if pods is None else pods - 1
    yield Part("worker", inner / "workerTemplate", pods, size)


def _volcano(body: Reader) -> Iterator[Part]:
    for task in body.follow("spec", "tasks").items():
        counted = task / "replicas"
        yield Part((task / "name").word(), task / "template", counted.integer(), counted)


def _queued(body: Reader) -> Iterator[PlanItem]:
    """An object of a kind that is not known, with the label of a queue: what runs of it is its operator's."""
    queue = body.follow("metadata", "labels", QUEUE)
    name = labels_of(body).get(QUEUE)
    if name is not None:
        yield Workload(
            at=body.at,
            kind=_kind(body),
            name=_name(body),
            namespace=namespace_of(body),
            queue=name,
            origins={"queue": queue.at},
            pods=(),
        )


_SERVING = reads(_template, together=False)
_OPERATOR = reads(replica_parts)
_RAY = reads(_ray, together=False, as_made=as_made_by_kuberay)
_JOBS = {
    f"{kind.group}/{kind.kind}": reads(kind.parts, as_made=kind.as_made)
    for kind in kinds().values()
    if kind.name != TRAIN_JOB
}
KINDS = {
    "/Pod": reads(_itself),
    "apps/DaemonSet": reads(_template, together=False, everywhere=True),
    "apps/Deployment": _SERVING,
    "apps/StatefulSet": _SERVING,
    "apps/ReplicaSet": _SERVING,
    "batch/CronJob": reads(_cron_job),
    "batch.volcano.sh/Job": reads(_volcano),
    "kubeflow.org/TFJob": _OPERATOR,
    "kubeflow.org/XGBoostJob": _OPERATOR,
    "kubeflow.org/PaddleJob": _OPERATOR,
    "kubeflow.org/JAXJob": _OPERATOR,
    "ray.io/RayCluster": _RAY,
    "ray.io/RayService": _RAY,
    "leaderworkerset.x-k8s.io/LeaderWorkerSet": reads(_leader_worker),
    **_JOBS,
}
OTHERS = _queued
