"""ray.io/v1 RayJob, which KubeRay's operator runs (v1.6.2, with which kueue v0.19.2 is built).

A RayJob makes a RayCluster, has the job's command run on its head, and deletes the cluster when that has ended. The
nodes of the job are a group of workers. The head is a pod without accelerators beside them: it takes two CPUs and 8 GiB
off what each node asks for, so that it fits beside any of them, and a quota of as many nodes holds all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.jobs.retrying import job_retries
from compiler.core.pods.plan import HEAD, Container, Pod, ReplicatedJob, Volume, merged
from compiler.plan.units import Quantity
from compiler.platforms.eks.runs.kinds.kind import TRAINER, Kind, OwnPods, program_part
from compiler.platforms.eks.runs.plan import Runtime, TrainJob

HEAD_GROUP, WORKERS = "head", "worker"
_ASKED = {"cpu": Quantity.of(2), "memory": Quantity.gib(8)}
# Ray keeps objects in 30 % of the memory by default, in /dev/shm where that has room (Ray documentation, memory
# management): more than that of the head's 8 GiB.
_OBJECTS = Quantity.gib(4)
_PLACED = "kueue.x-k8s.io/podset-"
_ANYWHERE = "kueue.x-k8s.io/podset-unconstrained-topology"
_STARTERS = ("torchrun", "torch.distributed.run", "mpirun", "mpiexec", "accelerate")
_REFERENCE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
_KUBERAY = "kuberay v1.6.2, ray-operator/controllers/ray"
_CONTROLLER = f"{_KUBERAY}/rayjob_controller.go"


class RayJob(OwnPods):
    """A head and a group of workers."""

    name = "RayJob"
    launchers = ("ray",)
    retried = "the operator makes the whole cluster anew so often"

    def check(self, context: Context, job: Job) -> None:
        Kind.check(self, context, job)
        spec = job.spec
        if spec.launcher is not None:
            context.fault(
                "RES161",
                f"job `{spec.name}` is a RayJob, which has no launcher `{spec.launcher.name}`: Ray starts its "
                "processes",
                job.at / "launcher",
                "remove it; or remove `apiGroup`, so that Trainer runs it",
                source=_CONTROLLER,
            )
        _check_room(context, job)
        _check_deadline(context, job)
        _check_command(context, job)
        _check_signal(context, job)

    def taken(self, job: Job) -> Iterator[tuple[str, Mapping[str, Quantity]]]:
        yield from super().taken(job)
        yield "Ray's head asks for", _ASKED

    def words(self, job: Job) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """One line: a RayJob has no arguments beside its entrypoint."""
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

    def explain(self, context: Context, job: Job) -> None:
        retries = job_retries(job)
        context.derive(
            job.target,
            "kind",
            self.name,
            f"apiGroup {job.spec.api_group}: KubeRay makes a RayCluster for it, and deletes that with its end",
            f"{_KUBERAY}/rayjob_controller.go",
        )
        context.derive(
            job.target,
            "head",
            f"{_ASKED['cpu']} CPUs, {_ASKED['memory']}, no accelerators",
            "a pod beside the nodes, with the driver and Ray's own services; taken off each node's share",
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
            "each attempt is a new RayCluster; of one that runs the operator makes a lost pod anew",
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
    """A node that leaves nothing to a worker beside the head."""
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
        f"and Ray's head takes {cpu} CPUs and {memory} beside a worker",
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
        "write `retries: {job: 0}`, or remove `timeout`; or remove `apiGroup`: a TrainJob has one for all attempts",
        source=f"{_CONTROLLER}, initRayJobStatusIfNeed",
    )


def _check_command(context: Context, job: Job) -> None:
    """The command runs once, on the head, and no kubelet fills variables in."""
    spec = job.spec
    words = [*spec.command, *spec.args]
    line = "\n".join(words)
    named = (name for name in _STARTERS if name in line)
    starter = next(named, None)
    if starter is not None:
        context.fault(
            "RES202",
            f"job `{job.spec.name}` is a RayJob, and its command starts `{starter}`, which would run on the head alone",
            job.at / "command",
            "start the program itself, like `[python, train.py]`, and let Ray Train start the ranks; or write "
            "`apiGroup: jobset.x-k8s.io`",
            source=f"{_CONTROLLER}, SubmitJob",
        )
    texts = (("command", spec.command), ("args", spec.args))
    for key, given in texts:
        for index, word in enumerate(given):
            reference = _REFERENCE.search(word)
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


KIND = RayJob()
