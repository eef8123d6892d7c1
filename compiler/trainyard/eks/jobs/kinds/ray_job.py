"""ray.io/v1 RayJob, which KubeRay's operator runs (v1.6.2, with which kueue v0.19.2 is built).

A RayJob makes a RayCluster, has the job's command run on its head, and deletes the cluster when that has ended. The
nodes of the job are a group of workers. The head is another pod, without accelerators: it takes two CPUs and 8 GiB
off what each node asks for, so that it fits on a node with any of them, and a quota of as many nodes holds all.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.core.jobs.retrying import job_retries
from trainyard.core.jobs.starters import first_named
from trainyard.core.pods.plan import (
    ACCELERATORS,
    HEAD,
    Container,
    Mount,
    Pod,
    ReplicatedJob,
    Volume,
    merged,
)
from trainyard.eks.jobs.bodies import POD, KeyPath, Written, pod_template
from trainyard.eks.jobs.kind import TRAINER, CalledBy, Ending, NameLimit, OwnPods, program_part
from trainyard.eks.jobs.lifting import (
    JobFields,
    Part,
    job_and_pods,
    one_or,
    own_runtime,
    replica_count,
    settings_of,
)
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.jobs.run_pods import OF_RAY_JOB
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.lift.pods import pod
from trainyard.lift.reader import Reader
from trainyard.output.lowering.body import fields_given
from trainyard.output.manifest import Body
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context

KUBERAY = "kuberay-operator"
"""The operator of Ray: its component, chart, and the name that its pods have as a label (kuberay v1.6.2, chart)."""
DASHBOARD = 8265
"""The port of Ray's dashboard, which takes jobs (kuberay v1.6.2, DefaultDashboardPort)."""
_CLUSTER = ("spec", "rayClusterSpec")
HEAD_GROUP, WORKERS = "head", "worker"
_ASKED = {"cpu": Quantity.of(2), "memory": Quantity.gib(8)}
# Ray keeps objects in 30 % of the memory by default, in /dev/shm where that has room (Ray documentation, memory
# management): more than that of the head's 8 GiB.
_OBJECTS = Quantity.gib(4)
_PLACED = "kueue.x-k8s.io/podset-"
_ANYWHERE = "kueue.x-k8s.io/podset-unconstrained-topology"
_STARTERS = ("torchrun", "torch.distributed.run", "mpirun", "mpiexec", "accelerate")
_REFERENCE = r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)"
_KUBERAY = "kuberay v1.6.2, ray-operator/controllers/ray"
_CONTROLLER = f"{_KUBERAY}/rayjob_controller.go"


class RayJob(OwnPods):
    """A head and a group of workers."""

    name = kind = "RayJob"
    place = 5
    api = "ray.io/v1"
    plural = "rayjobs"
    crd = "kuberay/v1.6.2"
    framework = "ray.io/rayjob"
    operator = KUBERAY
    pods = (
        (*_CLUSTER, "headGroupSpec", *POD),
        (*_CLUSTER, "workerGroupSpecs", "*", *POD),
        ("spec", "submitterPodTemplate", "spec"),
    )
    name_limit = NameLimit(47, "its RayCluster gets 6 more, and that has at most 53")
    name_syntax = "dns-1035-label"
    has_peers = True
    restarts_gang = False
    launcher = "ray"
    launchers = ("ray",)
    run_pods = OF_RAY_JOB
    ends = Ending(("Complete",), field=("status", "jobDeploymentStatus"))  # kuberay v1.6.2
    retries = ("spec", "backoffLimit")
    counts_each_try = True
    restarted = "all pods together, as a new RayCluster"
    # kuberay v1.6.2, raycluster_controller: it recreates the pods of a running cluster.
    mends = "KubeRay recreates a lost worker, and Ray Train starts its ranks again as `FailureConfig` says"
    called_by = CalledBy(KUBERAY, DASHBOARD)
    # Kueue writes node selectors, labels and gates into the groups of what it admits, and the list of them is one value
    # for server-side apply (kuberay v1.6.2, workerGroupSpecs has no list type): Flux would take all of that back.
    # Observed with Kueue 0.19.2 and Kubernetes 1.36: an apply of an admitted RayJob took gates and labels of its
    # workers, not the head's.
    applied_once = True
    places = {
        ("entrypoint",): "command",
        ("activeDeadlineSeconds",): "deadline",
        ("backoffLimit",): "max_restarts",
        ("rayClusterSpec", "workerGroupSpecs", 0, "replicas"): "nodes",
    }
    retried = "how often the operator recreates the whole cluster"

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        _check_room(context, job)
        _check_deadline(context, job)
        _check_command(context, job)
        _check_signal(context, job)

    def refuse_launcher(self, context: Context, job: Job, able: Sequence[str]) -> None:
        launcher = job.spec.launcher
        assert launcher is not None, "Ray runs jobs that name none"
        context.fault(
            "RES161",
            f"job `{job.spec.name}` is a RayJob, which has no launcher `{launcher.name}`: Ray starts its processes",
            job.at / "launcher",
            "remove it; or remove `kind`, so that Trainer runs it",
            source=_CONTROLLER,
        )

    def taken(self, job: Job) -> Iterator[tuple[str, Mapping[str, Quantity]]]:
        yield "Ray's head asks for", _ASKED

    def words(self, job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """One line: a RayJob has no arguments apart from its entrypoint."""
        spec = job.spec
        words = (*spec.command, *spec.args)
        return words, ()

    def processes(self, declared: int | None) -> int | None:
        """The program says it."""
        return None

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """The pod of the runtime once for each node, and without its devices for the head."""
        node = program_part(runtime)
        workers = ReplicatedJob(
            at=job.at, name=WORKERS, step=TRAINER, pod=node.pod, replicas=job.spec.nodes
        )
        head = ReplicatedJob(at=job.at, name=HEAD_GROUP, step=HEAD, pod=_head(node.pod))
        return replace(
            runtime,
            kind=self.name,
            jobs=(head, workers),
            nodes=None,
            restart_strategy=None,
            settings={"submissionMode": "HTTPMode", "shutdownAfterJobFinishes": True},
        )

    def filled(self, replicated: ReplicatedJob, main: str, job: TrainJob) -> ReplicatedJob:
        """The head has the image and the variables of the job, and asks for less."""
        if replicated.step != HEAD:
            return replicated
        containers = []
        for container in replicated.pod.containers:
            if container.name == main:
                container = replace(
                    container,
                    image=job.image,
                    env=merged(job.env, container.env),
                    origins={
                        **container.origins,
                        "image": job.where("image"),
                        "env": job.where("env"),
                    },
                )
            containers.append(container)
        pod = replace(replicated.pod, containers=tuple(containers))
        return replace(replicated, pod=pod)

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        """The command is the entrypoint of the cluster; its containers start Ray, by the operator's own command."""
        main = runtime.trainer()
        cluster: Body = {}
        workers: list[Body] = []
        pods: list[KeyPath] = []
        here = _CLUSTER
        for part in runtime.jobs:
            template = pod_template(_without_program(part.pod, runtime.main))
            if part is not main:
                head = {"rayStartParams": dict(_HEAD_STARTS), "template": template}
                cluster["headGroupSpec"] = head
                pods.append((*here, "headGroupSpec", *POD))
                continue
            place = (*here, "workerGroupSpecs", len(workers))
            pods.append((*place, *POD))
            workers.append(
                {
                    "groupName": part.name,
                    "replicas": part.replicas,
                    "minReplicas": part.replicas,
                    "maxReplicas": part.replicas,
                    "rayStartParams": {},
                    "template": template,
                }
            )
        spec = fields_given(
            entrypoint=shlex.join(job.command),
            **runtime.settings,
            backoffLimit=runtime.max_restarts,
            activeDeadlineSeconds=job.deadline,
            managedBy=job.managed_by,
            rayClusterSpec={**cluster, "workerGroupSpecs": workers},
        )
        return spec, pods

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        cluster = spec / "rayClusterSpec"
        head = cluster / "headGroupSpec"
        parts = [ReplicatedJob(at=head.at, name="head", step=HEAD, pod=pod(head / "template"))]
        groups = (cluster / "workerGroupSpecs").items()
        workers = [_group(group) for group in groups]
        runtime = own_runtime(
            body,
            self.name,
            self.main,
            [*parts, *workers],
            framework="ray",
            settings=settings_of(spec, "submissionMode", "shutdownAfterJobFinishes"),
        )
        fields = JobFields(
            deadline=spec / "activeDeadlineSeconds",
            max_restarts=spec / "backoffLimit",
            nodes=groups[0] / "replicas" if groups else None,
            entrypoint=spec / "entrypoint",
        )
        yield from job_and_pods(body, runtime, fields, nodes=replica_count(workers))

    def parts(self, body: Reader) -> Iterator[Part]:
        """Of a RayJob all pods are one cluster, which Kueue admits as a whole (v0.19.2, rayjob)."""
        spec = body / "spec"
        yield from ray_groups(spec / "rayClusterSpec")
        yield Part("submitter", spec / "submitterPodTemplate", 1, beside=True)

    def as_made(self, body: Reader, part: str, pod: Pod) -> Pod:
        return as_made_by_kuberay(body, part, pod)

    def explain(self, context: Context, job: Job) -> None:
        retries = job_retries(job)
        context.derive(
            job.target,
            "kind",
            self.name,
            "KubeRay makes a RayCluster for it, and deletes that with its end",
            f"{_KUBERAY}/rayjob_controller.go",
        )
        context.derive(
            job.target,
            "head",
            f"{_ASKED['cpu']} CPUs, {_ASKED['memory']}, no accelerators",
            "an additional pod, with the driver and Ray's own services; subtracted from each node's share",
            "ray.io/v1 headGroupSpec; rayStartParams num-cpus 0",
        )
        context.derive(
            job.target,
            "submissionMode",
            "HTTPMode",
            "the operator hands the command to the head word for word: no pod more, and no shell between",
            _CONTROLLER,
        )
        context.derive(
            job.target,
            "restart",
            f"backoffLimit {retries}",
            "each attempt is a new RayCluster; in a running one the operator recreates a lost pod",
            f"{_CONTROLLER}, raycluster_controller.go",
        )
        context.derive(
            job.target,
            "applied",
            "once",
            "Kueue writes where the pods go into the list of groups, which is one value for Flux: it would take that "
            "back",
            "kustomize-controller v1.9, ssa IfNotPresent; ray.io/v1 workerGroupSpecs",
        )


def _head(pod: Pod) -> Pod:
    """The pod of the head: that of a node, without its devices, on any host of the pool."""
    annotations = {}
    placed = False
    for key, value in pod.annotations.items():
        if key.startswith(_PLACED):
            placed = True
        else:
            annotations[key] = value
    if placed:
        annotations[_ANYWHERE] = "true"
    return replace(
        pod,
        annotations=annotations,
        containers=_small(pod.containers),
        init_containers=_small(pod.init_containers),
        volumes=tuple(_shared_memory(volume) for volume in pod.volumes),
    )


def _small(containers: tuple[Container, ...]) -> tuple[Container, ...]:
    return tuple(replace(container, requests=_ASKED, limits=_ASKED) for container in containers)


def _shared_memory(volume: Volume) -> Volume:
    if volume.name != "dshm" or volume.size is None:
        return volume
    return replace(volume, size=min(volume.size, _OBJECTS))


# --- checks


def _check_room(context: Context, job: Job) -> None:
    """A node that is too small for a worker and the head."""
    share = job.pool.share
    instance = job.pool.instance.name
    cpu = _ASKED["cpu"]
    memory = _ASKED["memory"]
    if share.cpu > cpu.value and share.memory > memory:
        return
    context.fault(
        "RES200",
        f"jobs get {share.cpu} CPUs and {share.memory} "
        f"of a node of pool `{job.pool.name}` (`{instance}`), "
        f"and Ray's head takes {cpu} CPUs and {memory} in addition to a worker",
        job.at / "pool",
        "take a pool of larger nodes",
        source="ray.io/v1 headGroupSpec",
    )


def _check_deadline(context: Context, job: Job) -> None:
    """The operator counts from the start of each attempt (initRayJobStatusIfNeed)."""
    if job.spec.timeout is None:
        return
    retries = job_retries(job)
    if not retries:
        return
    context.fault(
        "RES201",
        f"job `{job.spec.name}` has a timeout "
        f"and {retries} retries, and KubeRay counts the time of each "
        "attempt by itself",
        job.at / "timeout",
        "write `retries: 0`, or remove `timeout`; or remove `kind`: a TrainJob has one for all attempts",
        source=f"{_CONTROLLER}, initRayJobStatusIfNeed",
    )


def _check_command(context: Context, job: Job) -> None:
    """The command runs once, on the head, and no kubelet fills variables in."""
    spec = job.spec
    starter = first_named((*spec.command, *spec.args), _STARTERS)
    if starter is not None:
        context.fault(
            "RES202",
            f"job `{job.spec.name}` is a RayJob, and its command starts `{starter}`, which would run on the head alone",
            job.at / "command",
            "start the program itself, like `[python, train.py]`, and let Ray Train start the ranks; or write "
            "`kind: JobSet`",
            source=f"{_CONTROLLER}, SubmitJob",
        )
    texts = (("command", spec.command), ("args", spec.args))
    for key, said in texts:
        for index, word in enumerate(said):
            reference = re.search(_REFERENCE, word)
            if reference is None:
                continue
            name = reference.group(1)
            context.fault(
                "RES203",
                f"`{word}` names the variable `{name}`, and nobody fills it in: the command of a RayJob is no "
                "container's",
                job.at / key / index,
                f"let the program read `{name}`, or write `[bash, -c, '… ${name}']`",
                source=f"{_CONTROLLER}, SubmitJob; core/v1 Container command",
            )


def _check_signal(context: Context, job: Job) -> None:
    """The hook would wait at the end of each run: Ray's pods are deleted when the program has long ended."""
    saves = job.spec.checkpoint
    if saves is None or saves.signal_file is None:
        return
    context.fault(
        "RES204",
        f"job `{job.spec.name}` is a RayJob, whose pods outlive its program: the hook that makes "
        f"`{saves.signal_file}` would hold each node for the grace period when the job has ended",
        job.at / "checkpoint" / "signalFile",
        "remove it, and save as often as a failure may cost: `every`",
        source=f"{_CONTROLLER}, handleShutdownAfterJobFinishes",
    )


# --- what is written


_HEAD_STARTS = {"num-cpus": "0"}
"""Ray places no rank on the head (ray start; kuberay v1.6.2, common/pod.go)."""


def _without_program(pod: Pod, main: str) -> Pod:
    containers = []
    for container in pod.containers:
        if container.name == main:
            container = replace(container, command=(), args=())
        containers.append(container)
    return replace(pod, containers=tuple(containers))


# --- what is read


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


def ray_groups(cluster: Reader) -> Iterator[Part]:
    """The head, and the groups of workers. How many an autoscaler makes is unknown; a head without accelerators is no
    node of the training."""
    head = cluster.follow("headGroupSpec", "template")
    yield Part(_RAY_HEAD, head, 1, beside=not _has_accelerators(head))
    scales = (cluster / "enableInTreeAutoscaling").flag()
    for group in (cluster / "workerGroupSpecs").items():
        counted = group / "replicas"
        replicas = one_or(counted)
        hosts = one_or(group / "numOfHosts")
        pods = None
        if replicas is not None and hosts is not None and not scales:
            pods = replicas * hosts
        yield Part((group / "groupName").word(), group / "template", pods, counted)


def _has_accelerators(template: Reader) -> bool:
    return any(
        (container / "resources" / amounts / resource)
        for container in template.follow("spec", "containers").items()
        for amounts in ("limits", "requests")
        for resource in ACCELERATORS
    )


def as_made_by_kuberay(body: Reader, name: str, own: Pod) -> Pod:
    """Ray's container is the first: it gets shared memory, as much as it has memory, unless it has some (kuberay
    v1.6.2, common/pod.go, addEmptyDir). The entrypoint runs on the head, and what it trains on the workers, where there
    are any with their own folders: a head without accelerators is not judged by it."""
    if not own.containers or name == "submitter":
        return own
    first, *others = own.containers
    if all(mount.path != _SHM for mount in first.mounts):
        # One as large as the memory limit is bounded by that alone.
        size = None if "memory" in first.limits else first.requests.get("memory")
        volume = Volume("shared-mem", "emptyDir", medium="Memory", size=size)
        mounts = (*first.mounts, Mount(volume.name, _SHM))
        first = replace(first, mounts=mounts)
        own = replace(own, volumes=(*own.volumes, volume))
    entrypoint = body.follow("spec", "entrypoint")
    line = entrypoint.text()
    if name == _RAY_HEAD and line is not None and _trains_on_head(body.follow(*_CLUSTER)):
        first = _running(first, entrypoint.at, line)
    return replace(own, containers=(first, *others))


def _trains_on_head(cluster: Reader) -> bool:
    head = cluster.follow("headGroupSpec", "template")
    return _has_accelerators(head) or not (cluster / "workerGroupSpecs").items()


_SHM, _RAY_HEAD = "/dev/shm", "head"


def _running(container: Container, at: Route, line: str) -> Container:
    """A container that runs a line of shell."""
    places = {**container.origins, "command": at}
    command = ("/bin/sh", "-c", line)
    return replace(container, command=command, args=(), origins=places)


KIND = RayJob()
