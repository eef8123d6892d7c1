"""Jobs: from ten lines to a runtime and a TrainJob with everything said."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace

from compiler.plan.jobs import (
    EFA,
    EPHEMERAL,
    HUGEPAGES,
    Container,
    EnvVar,
    Mount,
    Patch,
    Pod,
    ReplicatedJob,
    Runtime,
    TrainJob,
    Volume,
)
from compiler.plan.nodes import NODEPOOL_LABEL
from compiler.plan.units import Quantity
from compiler.resolve.context import SPEC, Context, unique
from compiler.resolve.model import check_model
from compiler.resolve.nodes import Pool
from compiler.resolve.queues import NETWORK_LAYERS, Queue
from compiler.resolve.storage import Storage
from compiler.source import Route
from compiler.spec import jobs as spec_jobs

SERVICE_ACCOUNT = "training"
POD_PRIORITY = "trainyard-training"
MANAGER = "trainyard.dev/compiler"
CHECKPOINT_ENV = "CHECKPOINT_DIR"
JOB_LABEL = "trainyard.dev/job"
PORT = 29500
RENDEZVOUS_SECONDS = 1200
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")
_SHM = "dshm"
_EFA_PAGES = Quantity.mib(5120)


@dataclass(frozen=True, slots=True)
class Job:
    """A job of the spec with its pool, queue and namespace bound."""

    spec: spec_jobs.Job
    at: Route
    pool: Pool
    queue: Queue
    namespace: str

    @property
    def target(self) -> str:
        return f"job/{self.spec.name}"


def resolve_jobs(
    context: Context, pools: dict[str, Pool], queues: dict[str, Queue], storage: dict[str, Storage]
) -> list[Job]:
    """Every job that could be bound."""
    at = SPEC / "jobs"
    unique(context, "job", (each.name for each in context.spec.jobs), at)
    known = {each.name: each for each in context.spec.priorities}
    found = []
    for index, job in enumerate(context.spec.jobs):
        here = at / index
        if job.priority is not None:
            context.find("RES015", "priority", job.priority, known, here / "priority")
        for position, mount in enumerate(job.mounts):
            context.find("RES012", "storage", mount.storage, storage, here / "mounts" / position / "storage")
        queue = _queue(context, job, queues, here)
        pool = _pool(context, job, pools, queue, here)
        namespace = _namespace(context, job, queue, here) if queue else None
        if queue and pool and namespace:
            found.append(Job(job, here, pool, queue, namespace))
    return found


def _queue(context: Context, job: spec_jobs.Job, queues: dict[str, Queue], at: Route) -> Queue | None:
    if job.queue is not None:
        return context.find("RES016", "queue", job.queue, queues, at / "queue")
    fitting = [
        each for each in queues.values()
        if job.pool is None or not each.quota or any(pool.name == job.pool for pool, _, _ in each.quota)
    ] or list(queues.values())
    if len(fitting) == 1:
        if len(queues) > 1:
            context.derive(f"job/{job.name}", "queue", fitting[0].name, f"the only queue with quota of pool {job.pool}")
        return fitting[0]
    if fitting:
        choices = ", ".join(f"`{each.name}`" for each in fitting)
        context.fault("RES017", f"job `{job.name}` names no queue, and there are {len(fitting)}", at,
                      f"add `queue:` with one of {choices}", key=True)
    return None


def _pool(
    context: Context, job: spec_jobs.Job, pools: dict[str, Pool], queue: Queue | None, at: Route
) -> Pool | None:
    if job.pool is not None:
        if job.pool not in pools and job.pool in {each.name for each in context.spec.node_pools}:
            return None
        return context.find("RES011", "pool", job.pool, pools, at / "pool")
    fitting = list({pool.name: pool for pool, _, _ in queue.quota}.values()) if queue else list(pools.values())
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        choices = ", ".join(f"`{each.name}`" for each in fitting)
        context.fault("RES017", f"job `{job.name}` names no pool, and there are {len(fitting)}", at,
                      f"add `pool:` with one of {choices}", key=True)
    return None


def _namespace(context: Context, job: spec_jobs.Job, queue: Queue, at: Route) -> str | None:
    known = {each: each for each in queue.namespaces}
    if job.namespace is not None:
        if job.namespace not in known:
            choices = ", ".join(f"`{each}`" for each in known)
            context.fault("RES013", f"queue `{queue.name}` takes no jobs from namespace `{job.namespace}`",
                          at / "namespace", f"write one of {choices}, or add it to the queue's `namespaces`")
            return None
        return job.namespace
    if len(known) == 1:
        return next(iter(known))
    choices = ", ".join(f"`{each}`" for each in known)
    context.fault("RES017", f"job `{job.name}` names no namespace, and queue `{queue.name}` has {len(known)}", at,
                  f"add `namespace:` with one of {choices}", key=True)
    return None


def requests(context: Context, job: Job) -> dict[str, Quantity]:
    """What one node of the job asks for; requests and limits are the same."""
    own, share, target = job.spec.resources, job.pool.share, job.target
    found: dict[str, Quantity] = {}
    gpus = share.accelerators if own.gpus is None else own.gpus
    parts = share.accelerators or 1
    taken = gpus if share.accelerators else 1
    if own.cpu is None:
        cpu = max(share.cpu * taken // parts, 1)
        context.derive(target, "resources.cpu", cpu, _part("what jobs can get of a node", taken, parts))
    found["cpu"] = own.cpu if own.cpu is not None else Quantity.of(cpu)
    if own.memory is None:
        memory = Quantity.gib(max(share.memory.value // 1024**3 * taken // parts, 1))
        context.derive(target, "resources.memory", memory, _part("what jobs can get of a node", taken, parts))
    found["memory"] = own.memory if own.memory is not None else memory
    if gpus and not share.resource:
        context.fault("RES025", f"job `{job.spec.name}` asks {gpus} accelerators of pool `{job.pool.name}`; "
                      f"`{job.pool.instance.name}` has none", job.at / "resources" / "gpus",
                      "remove it, or take a pool of accelerators")
    if share.resource and gpus:
        found[share.resource] = Quantity.of(gpus)
        if own.gpus is None:
            context.derive(target, "resources.gpus", gpus, f"all accelerators of {job.pool.instance.name}: whole nodes")
    efa = _efa(context, job)
    if efa:
        found[EFA] = Quantity.of(efa)
        found[HUGEPAGES] = own.huge_pages if own.huge_pages is not None else _EFA_PAGES
        if own.huge_pages is None:
            context.derive(target, "resources.hugePages", _EFA_PAGES, "libfabric's EFA provider uses huge pages",
                           "EKS user guide, node-efa")
    elif own.huge_pages is not None:
        found[HUGEPAGES] = own.huge_pages
    if own.ephemeral_storage is not None:
        found[EPHEMERAL] = own.ephemeral_storage
    return found


def _part(text: str, taken: int, parts: int) -> str:
    return text if taken == parts else f"{taken} of {parts} accelerators: their part of {text}"


def _efa(context: Context, job: Job) -> int:
    if job.spec.resources.efa is not None:
        return job.spec.resources.efa
    if job.spec.nodes == 1:
        if job.pool.efa:
            context.derive(job.target, "resources.efa", 0, "a job of one node sends nothing over the network")
        return 0
    if job.pool.efa:
        context.derive(job.target, "resources.efa", job.pool.share.efa,
                       f"{job.spec.nodes} nodes talk over all EFA devices of {job.pool.instance.name}",
                       "EC2 DescribeInstanceTypes MaximumEfaInterfaces")
    return job.pool.share.efa


def _shared_memory(context: Context, job: Job, memory: Quantity, processes: int) -> Quantity:
    if job.spec.shared_memory is not None:
        return job.spec.shared_memory
    gib = max(min(8 * processes, memory.value // 1024**3 // 4), 1)
    context.derive(job.target, "sharedMemory", f"{gib}Gi",
                   "8Gi a process for data loaders and NCCL, at most a quarter of the memory limit it counts in")
    return Quantity.gib(gib)


def _processes(context: Context, job: Job, asked: dict[str, Quantity]) -> int:
    if job.spec.processes_per_node is not None:
        return job.spec.processes_per_node
    resource = job.pool.share.resource
    count = asked[resource].value if resource and resource in asked else 1
    # A Neuron device is several cores; one process drives one core (Neuron documentation, torchrun).
    if resource == "aws.amazon.com/neuron" and job.pool.instance.accelerators:
        count = count * job.pool.instance.neuron_cores // job.pool.instance.accelerators
    context.derive(job.target, "processesPerNode", count, "one process an accelerator" if resource else "one process")
    return count


def launches_torchrun(parts: Iterable[str]) -> bool:
    """Whether a command starts its processes with torchrun, directly or in a shell line."""
    return any(launcher in part for part in parts for launcher in _LAUNCHERS)


def flags(parts: Iterable[str]) -> set[str]:
    """The long options of a command and of the shell lines in it, with ``-`` for ``_``."""
    found: set[str] = set()
    for part in parts:
        try:
            words = shlex.split(part) if " " in part else [part]
        except ValueError:
            words = part.split()
        found.update(word.split("=")[0].replace("_", "-") for word in words if word.startswith("--"))
    return found


def _rendezvous(context: Context, job: Job, name: str) -> list[EnvVar]:
    """torchrun reads each option from PET_*; Trainer injects nodes, rank and master, the rest is said here."""
    parts = [*job.spec.command, *job.spec.args]
    if not launches_torchrun(parts):
        return []
    said = flags(parts)
    if "--standalone" in said:
        return []
    wanted = {
        "--rdzv-backend": ("PET_RDZV_BACKEND", "c10d"),
        "--rdzv-endpoint": ("PET_RDZV_ENDPOINT", f"{name}-node-0-0.{name}:{PORT}"),
        "--rdzv-id": ("PET_RDZV_ID", name),
        "--rdzv-conf": ("PET_RDZV_CONF", f"timeout={RENDEZVOUS_SECONDS}"),
        "--max-restarts": ("PET_MAX_RESTARTS", str(job.spec.retries.process)),
    }
    found = [EnvVar(*pair) for flag, pair in wanted.items() if flag not in said and pair[0] not in job.spec.env]
    for variable in found:
        context.derive(job.target, f"env.{variable.name}", variable.value, _WHY[variable.name],
                       "torchrun reads every option from PET_*")
    return found


_WHY = {
    "PET_RDZV_BACKEND": "static rendezvous cannot restart processes",
    "PET_RDZV_ENDPOINT": "the pod of rank 0, by the JobSet's headless service",
    "PET_RDZV_ID": "one rendezvous a run",
    "PET_RDZV_CONF": "longer than a node takes to be repaired and to pull its image",
    "PET_MAX_RESTARTS": "processes restart in place before the whole gang does",
}


def _env(context: Context, job: Job) -> tuple[EnvVar, ...]:
    """All variables but those of the rendezvous, which carry the job's name."""
    spec = job.spec
    found = [EnvVar(key, value) for key, value in spec.env.items()]
    found += [EnvVar(each.env, secret=each.secret, key=each.key) for each in spec.secrets]
    if spec.checkpoint is not None and CHECKPOINT_ENV not in spec.env:
        context.derive(job.target, f"env.{CHECKPOINT_ENV}", spec.checkpoint.path, "where the program saves and resumes")
        found.append(EnvVar(CHECKPOINT_ENV, spec.checkpoint.path))
    return tuple(found + _network(context, job))


def _network(context: Context, job: Job) -> list[EnvVar]:
    """Only what the plugin does not choose itself: it sets provider, protocol, tuner and topology by instance type."""
    spec = job.spec
    if not job.pool.efa or spec.nodes == 1 or not job.pool.instance.gpus or "NCCL_NET" in spec.env:
        return []
    context.derive(job.target, "env.NCCL_NET", _PLUGIN, "without the EFA plugin NCCL stops, rather than use TCP",
                   "aws-ofi-nccl v1.21.1 nccl_ofi_interface_nvidia.cpp (this name in all versions)")
    return [EnvVar("NCCL_NET", _PLUGIN)]


_PLUGIN = "AWS Libfabric"


def runtime(context: Context, job: Job, asked: dict[str, Quantity], shared: Quantity) -> Runtime:
    """The versioned runtime of a job: its name carries a hash of its content, so it never changes under a job."""
    pool, spec = job.pool, job.spec
    annotations = {"karpenter.sh/do-not-disrupt": "true"}
    if pool.spec.topology == "network" and spec.nodes > 1:
        annotations["kueue.x-k8s.io/podset-preferred-topology"] = NETWORK_LAYERS[-1]
    grace = 600 if spec.checkpoint is not None else 60
    pod = Pod(
        at=job.at,
        containers=(Container(at=job.at, name="node", mounts=(Mount(_SHM, "/dev/shm"),)),),
        node_selector={NODEPOOL_LABEL: pool.name},
        tolerations=pool.tolerations,
        volumes=(Volume(_SHM, "emptyDir", medium="Memory", size=shared),),
        restart_policy="Never", grace_seconds=grace, service_account=SERVICE_ACCOUNT, priority_class=POD_PRIORITY,
        annotations=annotations,
        origins={"tolerations": pool.at / "taints", "volumes": job.at / "sharedMemory",
                 "node_selector": job.at / "pool"},
    )
    node = ReplicatedJob(at=job.at, name="node", step="trainer", pod=pod, backoff_limit=0)
    found = Runtime(
        at=job.at, name="", jobs=(node,), framework="torch", nodes=1, max_restarts=spec.retries.job,
        restart_strategy="Recreate", prune=False, origins={"max_restarts": job.at / "retries" / "job"},
    )
    name = f"torch-{pool.name}"[:48].rstrip("-")
    return replace(found, name=f"{name}-{_digest(found)}")


def _digest(node: object, length: int = 8) -> str:
    return hashlib.sha256(repr(node).encode()).hexdigest()[:length]


def train_job(context: Context, job: Job) -> tuple[TrainJob, Runtime]:
    """The TrainJob of a job and the runtime that it refers to."""
    spec, at = job.spec, job.at
    asked = requests(context, job)
    processes = _processes(context, job, asked)
    shared = _shared_memory(context, job, asked["memory"], processes)
    ran = runtime(context, job, asked, shared)
    check_model(context, spec, job.pool, asked, at)
    _check_deadline(context, job)
    env, patches = _env(context, job), _patches(context, job)
    name = f"{spec.name}-{_identity(job, asked, processes, ran, env)}"
    context.derive(job.target, "name", name, "carries a hash of all that would force a new run")
    context.derive(job.target, "runtime", ran.name, "a runtime that changes under a job restarts it: named by content")
    _explain(context, job)
    return TrainJob(
        at=at, name=name, namespace=job.namespace, runtime=ran.name, queue=job.queue.name, priority=spec.priority,
        nodes=spec.nodes, processes=processes, image=spec.image, command=tuple(spec.command), args=tuple(spec.args),
        env=(*env, *_rendezvous(context, job, name)), requests=asked, limits=asked, patches=patches, prune=False,
        deadline=spec.timeout.seconds if spec.timeout else None,
        labels={**context.spec.labels, **spec.labels, JOB_LABEL: spec.name}, source_name=spec.name, rerun=spec.rerun,
        origins={
            "nodes": at / "nodes", "image": at / "image", "command": at / "command", "args": at / "args",
            "env": at / "env", "requests": at / "resources", "limits": at / "resources", "patches": at / "mounts",
            "queue": at / "queue", "priority": at / "priority", "deadline": at / "timeout", "name": at / "name",
            "processes": at / "processesPerNode", "namespace": at / "namespace", "runtime": at / "pool",
        },
    ), ran


def _check_deadline(context: Context, job: Job) -> None:
    version = context.version("trainer")
    # spec.activeDeadlineSeconds of a TrainJob came with Trainer 2.2.0 (kubeflow/trainer#3258).
    if job.spec.timeout is not None and version.startswith("2.1."):
        context.fault("RES028", f"job `{job.spec.name}` has a timeout, and Trainer `{version}` knows none",
                      job.at / "timeout", "remove it, or take Trainer 2.2 or newer")


def _identity(
    job: Job, asked: dict[str, Quantity], processes: int, ran: Runtime, env: tuple[EnvVar, ...]
) -> str:
    """Five hex digits over everything that cannot change in a TrainJob that exists (CEL of Trainer 2.3.0)."""
    spec = job.spec
    content = {
        "image": spec.image, "command": spec.command, "args": spec.args, "nodes": spec.nodes,
        "env": [(each.name, each.value, each.secret, each.key) for each in env],
        "rendezvous": [PORT, RENDEZVOUS_SECONDS, spec.retries.process],
        "mounts": [(each.storage, each.path, each.read_only) for each in spec.mounts],
        "asked": {key: value.milli for key, value in asked.items()}, "processes": processes, "runtime": ran.name,
        "queue": job.queue.name, "namespace": job.namespace, "priority": spec.priority, "rerun": spec.rerun,
        "timeout": spec.timeout.seconds if spec.timeout else None,
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:5]


def _explain(context: Context, job: Job) -> None:
    target, pool = job.target, job.pool
    context.derive(target, "zone", ", ".join(pool.zones), f"pool {pool.name} is there")
    context.derive(target, "tolerations", ", ".join(map(str, pool.taints)), f"the taints of pool {pool.name}")
    context.derive(target, "restart", f"process {job.spec.retries.process}, job {job.spec.retries.job}",
                   "a lost rank hangs the others: restartPolicy Never and backoffLimit 0 pass every failure to JobSet, "
                   "which makes all pods anew", "jobset.x-k8s.io/v1alpha2 failurePolicy.maxRestarts")


def _patches(context: Context, job: Job) -> tuple[Patch, ...]:
    mounts = job.spec.mounts
    if not mounts:
        return ()
    storages = dict.fromkeys(each.storage for each in mounts)
    pod = Pod(
        at=job.at / "mounts",
        containers=(Container(
            at=job.at / "mounts", name="node",
            mounts=tuple(Mount(each.storage, each.path, each.read_only) for each in mounts),
        ),),
        volumes=tuple(Volume(name, "persistentVolumeClaim", name) for name in storages),
    )
    # podTemplateOverrides, the form before 2.2, name no manager.
    named = context.release.has("trainer.runtimePatches", context.version("trainer"))
    return (Patch(at=job.at / "mounts", job="node", pod=pod, manager=MANAGER if named else ""),)
