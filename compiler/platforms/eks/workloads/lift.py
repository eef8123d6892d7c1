"""Lift: pods of every other kind that has a pod template.

Sources: k8s.io/api v0.36 (core, apps, batch), jobset v0.12.0, training-operator v1.9.4, mpi-operator v0.8.2, KubeRay
v1.6.2, leaderworkerset v1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from compiler.core.pods.plan import ACCELERATORS, Container, Mount, Pod, Volume
from compiler.lift.pods import pod
from compiler.lift.reader import Reader, labels_of, name_of, namespace_of
from compiler.places import Route
from compiler.plan.base import PlanNode
from compiler.platforms.eks.runs.lift import QUEUE
from compiler.platforms.eks.workloads.plan import PodSet, Workload

OPEN_ONLY = True
"""What we write ourselves is judged as what it is; these readers are for third-party manifests."""

Part = tuple[str, Reader, int | None]  # name, pod template, how many pods
Parts = Callable[[Reader], Iterator[Part]]
Made = Callable[[Reader, str, Pod], Pod]  # of an object, the name of a part, its pod


def _reads(
    parts: Parts, *, together: bool = True, everywhere: bool = False, as_made: Made | None = None
) -> Callable[[Reader], Iterator[PlanNode]]:
    """The reader of a kind by its parts. ``together``: its pods are one job, and start and fail as one. ``as_made``:
    what their operator makes of a pod."""

    def read(body: Reader) -> Iterator[PlanNode]:
        pods: list[PodSet] = []
        counts: list[int | None] = []
        for name, template, count in parts(body):
            if template:
                own = pod(template)
                if as_made is not None:
                    own = as_made(body, name, own)
                part = PodSet(at=template.at, name=name, pod=own, beside=count == 0)
                pods.append(part)
                counts.append(count)
        queue = body.follow("metadata", "labels", QUEUE)
        yield Workload(
            at=body.at,
            kind=(body / "kind").word(),
            name=_name(body),
            namespace=namespace_of(body),
            nodes=_total(counts) if together else None,
            queue=labels_of(body).get(QUEUE),
            everywhere=everywhere,
            origins={"queue": queue.at},
            pods=tuple(pods),
        )

    return read


def _as_made_by_kuberay(body: Reader, name: str, own: Pod) -> Pod:
    """Ray's container is the first: it gets shared memory, as much as it has memory, unless it has some, and of the
    head of a RayJob it runs the entrypoint (kuberay v1.6.2, common/pod.go, addEmptyDir)."""
    if not own.containers or name == "submitter":
        return own
    first, *others = own.containers
    if all(mount.path != _SHM for mount in first.mounts):
        limit = first.limits.get("memory")
        size = limit or first.requests.get("memory")
        volume = Volume("shared-mem", "emptyDir", medium="Memory", size=size)
        mounts = (*first.mounts, Mount(volume.name, _SHM))
        first = replace(first, mounts=mounts)
        own = replace(own, volumes=(*own.volumes, volume))
    entrypoint = body.follow("spec", "entrypoint")
    line = entrypoint.text()
    if name == _RAY_HEAD and line is not None:
        first = _running(first, entrypoint.at, line)
    return replace(own, containers=(first, *others))


_SHM, _RAY_HEAD = "/dev/shm", "head"


def _running(container: Container, at: Route, line: str) -> Container:
    """A container that runs a line of shell."""
    places = {**container.origins, "command": at}
    command = ("/bin/sh", "-c", line)
    return replace(container, command=command, args=(), origins=places)


def _total(counts: list[int | None]) -> int | None:
    """The sum, unknown where one of them is."""
    known = [count for count in counts if count is not None]
    if len(known) == len(counts):
        return sum(known)
    return None


def _name(body: Reader) -> str:
    """The name, or the beginning of one that the API server makes."""
    generated = body.follow("metadata", "generateName").word()
    return name_of(body) or f"{generated}…"


def _itself(body: Reader) -> Iterator[Part]:
    yield "", body, None  # others may belong to it


def _template(body: Reader) -> Iterator[Part]:
    yield "", body.follow("spec", "template"), None


def _job(body: Reader) -> Iterator[Part]:
    yield "", body.follow("spec", "template"), _pods(body / "spec")


def _cron_job(body: Reader) -> Iterator[Part]:
    spec = body.follow("spec", "jobTemplate", "spec")
    yield "", spec / "template", _pods(spec)


def _pods(job: Reader) -> int | None:
    """How many pods of a Job belong together: those of one that is not indexed need not know each other."""
    parallel = _count(job / "parallelism")
    if parallel == 1 or (job / "completionMode").value == "Indexed":
        return parallel
    return None


def _count(value: Reader) -> int | None:
    return value.integer() if value else 1


def _job_set(body: Reader) -> Iterator[Part]:
    for replicated in body.follow("spec", "replicatedJobs").items():
        job = replicated.follow("template", "spec")
        replicas = _count(replicated / "replicas")
        parallel = _count(job / "parallelism")
        pods = None
        if replicas is not None and parallel is not None:
            pods = replicas * parallel
        yield (replicated / "name").word(), job / "template", pods


def _replica_specs(body: Reader) -> Iterator[Part]:
    """``pytorchReplicaSpecs`` and the like: by role. The launcher of MPI is no node of the training."""
    for field, specs in (body / "spec").entries():
        if not field.endswith("ReplicaSpecs"):
            continue
        for role, replica in specs.entries():
            pods: int | None = 0
            if role != "Launcher":
                pods = _count(replica / "replicas")
            yield role, replica / "template", pods


def _ray(body: Reader) -> Iterator[Part]:
    """A cluster that jobs come to, or that serves."""
    spec = body / "spec"
    cluster = spec / "rayClusterConfig" or spec
    for name, template, _ in _ray_groups(cluster):
        yield name, template, None


def _ray_job(body: Reader) -> Iterator[Part]:
    """Of a RayJob all pods are one cluster, which Kueue admits as a whole (v0.19.2, rayjob)."""
    spec = body / "spec"
    yield from _ray_groups(spec / "rayClusterSpec")
    yield "submitter", spec / "submitterPodTemplate", 0


def _ray_groups(cluster: Reader) -> Iterator[Part]:
    """The head, and the groups of workers. How many an autoscaler makes is unknown; a head without accelerators is no
    node of the training."""
    head = cluster.follow("headGroupSpec", "template")
    yield _RAY_HEAD, head, 1 if _has_accelerators(head) else 0
    scales = (cluster / "enableInTreeAutoscaling").flag()
    for group in (cluster / "workerGroupSpecs").items():
        replicas = _count(group / "replicas")
        hosts = _count(group / "numOfHosts")
        pods = None
        if replicas is not None and hosts is not None and not scales:
            pods = replicas * hosts
        yield (group / "groupName").word(), group / "template", pods


def _has_accelerators(template: Reader) -> bool:
    return any(
        (container / "resources" / amounts / resource)
        for container in template.follow("spec", "containers").items()
        for amounts in ("limits", "requests")
        for resource in ACCELERATORS
    )


def _leader_worker(body: Reader) -> Iterator[Part]:
    inner = body.follow("spec", "leaderWorkerTemplate")
    yield "leader", inner / "leaderTemplate", None
    yield "worker", inner / "workerTemplate", None


_SERVING = _reads(_template, together=False)
_OPERATOR = _reads(_replica_specs)
_RAY = _reads(_ray, together=False, as_made=_as_made_by_kuberay)
_RAY_JOB = _reads(_ray_job, as_made=_as_made_by_kuberay)
KINDS = {
    "/Pod": _reads(_itself),
    "apps/DaemonSet": _reads(_template, together=False, everywhere=True),
    "apps/Deployment": _SERVING,
    "apps/StatefulSet": _SERVING,
    "apps/ReplicaSet": _SERVING,
    "batch/Job": _reads(_job),
    "batch/CronJob": _reads(_cron_job),
    "jobset.x-k8s.io/JobSet": _reads(_job_set),
    "kubeflow.org/PyTorchJob": _OPERATOR,
    "kubeflow.org/MPIJob": _OPERATOR,
    "kubeflow.org/TFJob": _OPERATOR,
    "kubeflow.org/XGBoostJob": _OPERATOR,
    "kubeflow.org/PaddleJob": _OPERATOR,
    "kubeflow.org/JAXJob": _OPERATOR,
    "ray.io/RayCluster": _RAY,
    "ray.io/RayJob": _RAY_JOB,
    "ray.io/RayService": _RAY,
    "leaderworkerset.x-k8s.io/LeaderWorkerSet": _reads(_leader_worker, together=False),
}
