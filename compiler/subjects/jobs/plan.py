"""Jobs: training runtimes and TrainJobs, down to their pods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from typing import ClassVar, TypeVar

from compiler.dataclass import dataclass
from compiler.plan.base import LATER, Identity, PlanNode
from compiler.plan.plan import Plan
from compiler.plan.units import Quantity
from compiler.regex import regex
from compiler.source import Route
from compiler.subjects.pools.plan import Requirement, Toleration

Resources = Mapping[str, Quantity]

GPU = "nvidia.com/gpu"
NEURON = "aws.amazon.com/neuron"
EFA = "vpc.amazonaws.com/efa"
HUGEPAGES = "hugepages-2Mi"
EPHEMERAL = "ephemeral-storage"
ACCELERATORS = (GPU, NEURON)
INITIALIZERS = ("dataset-initializer", "model-initializer")
"""Steps of a TrainJob that run before the nodes (trainer.kubeflow.org/v1alpha1)."""
HEAD = "ray-head"
"""The step of the pod that has Ray's head, and the command of the job (ray.io/v1 headGroupSpec)."""
BESIDE_NODES = (*INITIALIZERS, HEAD)
"""Steps whose pods are no nodes of the job: they ask for what they say themselves, and need no EFA."""
MISSPELT = {
    "nvidia.com": GPU,
    "nvidia.com/gpus": GPU,
    "nvidia.com/GPU": GPU,
    "nvidia/gpu": GPU,
    "nvidia/gpus": GPU,
    "gpu": GPU,
    "vpc.amazonaws.com": EFA,
    "efa": EFA,
    "vpc.amazonaws.com/efas": EFA,
    "aws.amazon.com/efa": EFA,
    "amazonaws.com/efa": EFA,
    "k8s.amazonaws.com/efa": EFA,
    "aws.amazon.com": NEURON,
    "aws.amazon.com/neurons": NEURON,
}
"""Names that people write for devices, and the right ones."""
Misspelt = tuple[tuple[str, str], ...]
"""Such names as they are written, each after the field that it is in: ``requests`` or ``limits``."""


TRAIN_JOB = "TrainJob"
INDEX = "batch.kubernetes.io/job-completion-index"
"""The annotation by which a pod of an Indexed Job knows which one it is (batch/v1)."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of object that runs a job: its API version, its name for kubectl, and the container of its pods that runs
    the program."""

    name: str
    api: str
    word: str
    main: str = "node"

    @property
    def group(self) -> str:
        """The API group."""
        return self.api.partition("/")[0]


JOB_KINDS: Mapping[str, JobKind] = {
    kind.name: kind
    for kind in (
        JobKind(TRAIN_JOB, "trainer.kubeflow.org/v1alpha1", "trainjob"),
        # training-operator v1.9.4, PyTorchJobDefaultContainerName: its webhook refuses any other.
        JobKind("PyTorchJob", "kubeflow.org/v1", "pytorchjob", "pytorch"),
        JobKind("MPIJob", "kubeflow.org/v2beta1", "mpijob"),
        JobKind("JobSet", "jobset.x-k8s.io/v1alpha2", "jobset"),
        JobKind("Job", "batch/v1", "job"),
        JobKind("RayJob", "ray.io/v1", "rayjob"),
    )
}
"""The kinds that a job of the spec may be written as, by name."""

JOB_RESOURCES = (
    "cronjobs.batch",
    "jaxjobs.kubeflow.org",
    "leaderworkersets.leaderworkerset.x-k8s.io",
    "mpijobs.kubeflow.org",
    "paddlejobs.kubeflow.org",
    "pytorchjobs.kubeflow.org",
    "rayjobs.ray.io",
    "rayservices.ray.io",
    "tfjobs.kubeflow.org",
    "trainjobs.trainer.kubeflow.org",
    "xgboostjobs.kubeflow.org",
    "jobs.batch",
    "jobsets.jobset.x-k8s.io",
    "rayclusters.ray.io",
)
"""Every kind of job that is written or read, as kubectl calls it; those that others make come last."""

SPEC_NAME = "trainyard.dev/job"
"""Our own jobs carry a hash in their object's name; people know the spec's, which this label keeps."""
TRAINER_CHART = "kubeflow-trainer"
_HASH = regex(r"-(?:[0-9a-f]{8}|[0-9a-f]{5})$")


@dataclass(frozen=True, slots=True)
class EnvVar:
    """An environment variable: a literal value, a key of a Secret, or a field of its pod (core/v1 fieldPath)."""

    name: str
    value: str | None = None
    secret: str | None = None
    key: str | None = None
    pod_field: str | None = field(default=None, metadata=LATER)


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume mount of a container. ``sub_path`` is what of the volume is mounted, if not all."""

    volume: str
    path: str
    read_only: bool = False
    sub_path: str = field(default="", metadata=LATER)


@dataclass(frozen=True, slots=True)
class Volume:
    """A pod volume. ``type`` is the API's key (emptyDir, persistentVolumeClaim, hostPath, ...).

    ``source`` is the claim, path, ConfigMap or Secret, or the StorageClass of one that is made for the pod
    (`ephemeral`); ``size`` is that one's and emptyDir's, ``medium`` emptyDir's, ``host_type`` is what a path of the
    host must be.
    """

    name: str
    type: str
    source: str = ""
    medium: str = ""
    size: Quantity | None = None
    host_type: str = field(default="", metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Container(PlanNode):
    """A container. ``requests`` and ``limits`` are per pod, by resource name.

    ``pre_stop`` is the command that runs before the container gets the signal to stop. ``run_as_user``: the number of
    the user of its programs, 0 for root; ``None`` for that of the image. ``misspelt``: names of devices that are
    written wrong, and count as what was meant.
    """

    name: str
    image: str | None = None
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    requests: Resources = field(default_factory=dict)
    limits: Resources = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    capabilities: tuple[str, ...] = ()
    privileged: bool = False
    pre_stop: tuple[str, ...] = ()
    working_dir: str = field(default="", metadata=LATER)
    run_as_user: int | None = field(default=None, metadata=LATER)
    misspelt: Misspelt = field(default=(), metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod(PlanNode):
    """A pod template.

    ``excluded_nodes`` are hosts that its required node affinity keeps it from, ``pull_secrets`` the Secrets by which
    its images are pulled. ``pools`` are terms of that affinity about the labels of pools, of which one must hold.
    ``fs_group`` is the group, by number, that volumes are given to.
    """

    containers: tuple[Container, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    volumes: tuple[Volume, ...] = ()
    restart_policy: str | None = None
    grace_seconds: int | None = None
    service_account: str | None = None
    priority_class: str | None = None
    host_network: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    init_containers: tuple[Container, ...] = field(default=(), metadata=LATER)
    excluded_nodes: tuple[str, ...] = field(default=(), metadata=LATER)
    pull_secrets: tuple[str, ...] = field(default=(), metadata=LATER)
    pools: tuple[tuple[Requirement, ...], ...] = field(default=(), metadata=LATER)
    fs_group: int | None = field(default=None, metadata=LATER)

    def container(self, name: str) -> Container | None:
        """The container of a name."""
        for container in self.containers:
            if container.name == name:
                return container
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicatedJob(PlanNode):
    """One replicated job of a runtime's JobSet template. ``step`` is the trainjob-ancestor-step label.

    It starts when those of ``depends_on`` are complete and those of ``ready_after`` are ready. ``nodes``: those of a
    role of a JobSet of several; ``None`` is all of the job's.
    """

    name: str
    step: str | None
    pod: Pod
    replicas: int = 1
    backoff_limit: int | None = None
    depends_on: tuple[str, ...] = ()
    ready_after: tuple[str, ...] = field(default=(), metadata=LATER)
    nodes: int | None = field(default=None, metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(PlanNode):
    """trainer.kubeflow.org/v1alpha1 ClusterTrainingRuntime, or TrainingRuntime when it has a namespace.

    ``framework`` is the ML policy (torch, mpi, ...), ``settings`` what it says; ``max_restarts`` the JobSet failure
    policy's (``None``: no failure policy, which is no restart at all). ``decisive`` are the replicated jobs whose end
    is that of the whole (JobSet's successPolicy); () is all. ``kind``: that of the job whose own pods these are, where
    no object of Trainer has them (docs/adr/0015).
    """

    name: str
    jobs: tuple[ReplicatedJob, ...]
    namespace: str = ""
    framework: str | None = None
    nodes: int | None = None
    max_restarts: int | None = None
    restart_strategy: str | None = None
    prune: bool = True
    settings: Mapping[str, str | int | bool] = field(default_factory=dict, metadata=LATER)
    decisive: tuple[str, ...] = field(default=(), metadata=LATER)
    kind: str = field(default="", metadata=LATER)

    @property
    def identity(self) -> Identity:
        """Without the hash of our own ones; several runtimes of one pool share it."""
        return Identity("Runtime", self.namespace, _HASH.sub("", self.name))

    @property
    def main(self) -> str:
        """The name of the container that takes the job's image, command and resources."""
        return JOB_KINDS[self.kind or TRAIN_JOB].main

    def trainer(self) -> ReplicatedJob | None:
        """The replicated job that takes the TrainJob's trainer values."""
        for job in self.jobs:
            if job.step == "trainer":
                return job
        return None

    def job(self, name: str) -> ReplicatedJob | None:
        """The replicated job of a name."""
        for job in self.jobs:
            if job.name == name:
                return job
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch(PlanNode):
    """What a TrainJob changes in one replicated job's pods (runtimePatches, or podTemplateOverrides)."""

    job: str
    pod: Pod
    manager: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitializerSource(PlanNode):
    """What an initializer of a TrainJob downloads: ``name`` is ``dataset`` or ``model``.

    The keys of ``secret`` are variables of it.
    """

    name: str
    uri: str | None = None
    secret: str | None = None
    env: tuple[EnvVar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainJob(PlanNode):
    """trainer.kubeflow.org/v1alpha1 TrainJob, or a job of another ``kind``, whose ``runtime`` is its own pods.

    ``requests`` and ``limits`` are per node. ``least_nodes``: so many are enough to start, and ``nodes`` the most.

    ``trainer`` says whether ``spec.trainer`` is there at all; without it no PET_* variable is injected.
    ``source_name`` and ``pool`` are the names of the job and its pool in the spec, ``fallbacks`` the names of the pools
    that are tried after it, and ``rerun`` is how often it asks to be run anew. ``patched`` are the patches of the spec
    that change what it runs, by their places. ``pods_a_node``: so many of its pods fit on a node of its pool.
    ``misspelt``: as of containers.
    """

    name: str
    namespace: str
    runtime: str
    runtime_kind: str = "ClusterTrainingRuntime"
    queue: str | None = None
    priority: str | None = None
    trainer: bool = True
    nodes: int | None = None
    processes: int | str | None = None
    image: str | None = None
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    requests: Resources = field(default_factory=dict)
    limits: Resources = field(default_factory=dict)
    patches: tuple[Patch, ...] = ()
    suspend: bool | None = None
    managed_by: str | None = None
    deadline: int | None = None
    prune: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    kind: str = TRAIN_JOB
    least_nodes: int | None = None
    initializers: tuple[InitializerSource, ...] = ()
    source_name: str = field(default="", compare=False)
    pool: str = field(default="", compare=False)
    fallbacks: tuple[str, ...] = field(default=(), compare=False)
    rerun: int = field(default=0, compare=False)
    pods_a_node: int = field(default=1, compare=False)
    misspelt: Misspelt = field(default=(), compare=False)
    patched: tuple[Route, ...] = field(default=(), compare=False)

    @property
    def identity(self) -> Identity:
        """By the name that the spec gives it: that of its object carries a hash of what it runs."""
        name = self.labels.get(SPEC_NAME, self.name)
        return Identity(self.kind, self.namespace, name)

    @property
    def whole_nodes(self) -> int:
        """The nodes that its pods fill."""
        pods = self.nodes or 1
        return -(-pods // self.pods_a_node)

    def asks(self, resource: str) -> Quantity | None:
        """What a node of the job asks of a resource, by limit or else request; ``None`` if not at all."""
        limit = self.limits.get(resource)
        return limit or self.requests.get(resource)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingState(PlanNode):
    """What weights, gradients and optimizer of a job's model take, in bytes: ``held`` of an accelerator, of which
    ``weights`` are the weights, and ``host`` of a node's memory.

    ``memory`` is what an accelerator has, ``host_memory`` what the job gets of a node. ``enough_nodes`` are the fewest
    that hold the state, ``None`` where more nodes do not help. Without accelerators all of it is in the node's memory.
    ``sharing`` ranks have one copy of the model together.
    """

    carried: ClassVar[bool] = False

    name: str
    namespace: str
    pool: str
    instance: str
    nodes: int
    accelerators: int
    most_nodes: int
    sharding: str
    weights: int
    held: int
    memory: int
    host: int
    host_memory: int
    enough_nodes: int | None
    tensor: int
    pipeline: int
    context: int
    processes: int
    sharing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSchedule(PlanNode):
    """What the checkpoints of a job take: ``size`` in bytes of one, of which ``keep`` are kept; times in seconds.

    They lie in ``folder`` of ``storage`` of the spec; of FSx for Lustre ``file_system`` is the id, or the name of a
    storage that is made, ``deployment`` the type and ``capacity`` the bytes that it holds. ``write_speed`` and
    ``read_speed`` are MB/s that last, bounded by ``write_bound`` and ``read_bound``; ``peak_speed`` is what bursts
    reach. ``every`` is the interval that the spec says, ``timeout`` the end of the job, ``mtbf`` the mean time
    between two failures of any of its ``nodes``. What is unknown is ``None``. ``chosen``: the spec says how many are
    kept. ``asynchronous``: training goes on meanwhile.
    """

    carried: ClassVar[bool] = False

    name: str
    namespace: str
    pool: str
    nodes: int
    path: str
    folder: str
    storage: str
    file_system: str
    deployment: str
    capacity: int | None
    size: int | None
    keep: int
    chosen: bool
    asynchronous: bool
    every: int | None
    timeout: int | None
    write_speed: float | None
    write_bound: str
    read_speed: float | None
    read_bound: str
    peak_speed: float | None
    mtbf: int | None

    @property
    def write(self) -> float | None:
        """The seconds that one takes to write."""
        return _seconds(self.size, self.write_speed)

    @property
    def shortest_write(self) -> float | None:
        """The seconds that one takes to write while the file system bursts."""
        return _seconds(self.size, self.peak_speed)

    @property
    def read(self) -> float | None:
        """The seconds that one takes to read."""
        return _seconds(self.size, self.read_speed)

    @property
    def needed(self) -> int | None:
        """The bytes of all that are kept, and of the next one while it is written."""
        if self.size is None:
            return None
        return (self.keep + 1) * self.size

    @property
    def best(self) -> int | None:
        """The interval at which the least time is lost, in seconds and round: it matters little near the best.

        √(2 · write · MTBF) (Young 1974, doi:10.1145/361147.361115; Daly 2006, doi:10.1016/j.future.2004.11.016). A save
        that training does not wait for costs nothing: as soon as its file system has rested as long as it wrote. No
        later than in the middle of the job.
        """
        if self.write is None or self.mtbf is None:
            return None
        best = 2 * self.write
        if not self.asynchronous:
            squared = 2 * self.write * self.mtbf
            best = math.sqrt(squared)
        if self.timeout is not None:
            best = min(best, self.timeout / 2)
        return _round(best)

    def lost(self, every: int) -> float | None:
        """The share of the time that saving and failures take at an interval: write / interval + interval / (2 · MTBF)
        (Young 1974)."""
        if self.write is None or self.mtbf is None:
            return None
        if self.asynchronous:
            waits = 0.0
        else:
            waits = self.write / every
        return waits + every / (2 * self.mtbf)

    def repeated(self, every: int) -> float | None:
        """The seconds that a failure costs each node: half an interval, and reading the checkpoint."""
        if self.read is None:
            return None
        return every / 2 + self.read

    @property
    def ends_first(self) -> bool:
        """Whether the best interval is that in the middle of the job."""
        if self.timeout is None:
            return False
        middle = _round(self.timeout / 2)
        return self.best == middle


def _round(seconds: float) -> int:
    """A minute at least: whole minutes up to an hour, tens of them up to ten hours, then whole hours."""
    unit = 60
    if seconds >= 10 * 3600:
        unit = 3600
    elif seconds >= 3600:
        unit = 600
    units = max(round(seconds / unit), 1)
    return units * unit


def _seconds(size: int | None, speed: float | None) -> float | None:
    """How long so many bytes take at so many MB/s."""
    if size is None or speed is None:
        return None
    return size / 1e6 / speed


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSet(PlanNode):
    """An immutable ConfigMap with files of jobs: texts by key. ``prune`` off keeps it as long as a run may mount it."""

    name: str
    namespace: str
    files: Mapping[str, str]
    prune: bool = True

    @property
    def identity(self) -> Identity:
        """Its name is its content."""
        return Identity("FileSet", self.namespace, "files")


def runtime_of(plan: Plan, job: TrainJob) -> Runtime | None:
    """The runtime that a job refers to."""
    has_own = job.runtime_kind in ("TrainingRuntime", job.kind)
    namespace = job.namespace if has_own else ""
    return plan.named(Runtime, job.runtime, namespace)


def effective_pod(job: TrainJob, runtime: Runtime, *, merge_resources: bool = True) -> Pod | None:
    """The pod of the ``trainer`` job as Trainer will make it: runtime, then trainer, then patches in order.

    ``None`` where the runtime has no job for the trainer. Rules as observed on Trainer 2.3.0 (env by name,
    resources merged by name, node selectors merged, tolerations replaced as a whole, volumes and mounts merged
    by name); before 2.3 ``resourcesPerNode`` replaced the runtime's resources (``merge_resources=False``).
    """
    replicated = runtime.trainer()
    if replicated is None:
        return None
    pod = replicated.pod
    main = pod.container(runtime.main)
    if main is not None and job.trainer:
        pod = _with_container(pod, _trained(main, job, merge_resources=merge_resources))
    for patch in job.patches:
        if patch.job == replicated.name:
            pod = patched(pod, patch.pod)
    return pod


def _trained(main: Container, job: TrainJob, *, merge_resources: bool) -> Container:
    requests, limits = job.requests, job.limits
    if merge_resources or not (requests or limits):
        requests = {**main.requests, **requests}
        limits = {**main.limits, **limits}
    return replace(
        main,
        image=job.image or main.image,
        command=job.command or main.command,
        args=job.args or main.args,
        env=merged(main.env, job.env),
        requests=requests,
        limits=limits,
    )


T = TypeVar("T", EnvVar, Mount, Volume)


def merged(base: tuple[T, ...], over: tuple[T, ...]) -> tuple[T, ...]:
    """Items with others laid over them, by their names, or of mounts by their paths."""
    if not over:
        return base
    by_key = {_key(item): item for item in base}
    for item in over:
        by_key[_key(item)] = item
    return tuple(by_key.values())


def _key(item: EnvVar | Mount | Volume) -> str:
    if isinstance(item, Mount):
        return item.path
    return item.name


def _with_container(pod: Pod, changed: Container) -> Pod:
    containers = list(pod.containers)
    for index, container in enumerate(containers):
        if container.name == changed.name:
            containers[index] = changed
    return replace(pod, containers=tuple(containers))


def patched(pod: Pod, patch: Pod) -> Pod:
    """A pod template with a patch applied."""
    for change in patch.containers:
        main = pod.container(change.name)
        if main is not None:
            pod = _with_container(pod, _changed(main, change))
    grace_seconds = patch.grace_seconds
    if grace_seconds is None:
        grace_seconds = pod.grace_seconds
    pull_secrets = dict.fromkeys(pod.pull_secrets)
    pull_secrets |= dict.fromkeys(patch.pull_secrets)
    return replace(
        pod,
        init_containers=_patched_init_containers(pod, patch),
        excluded_nodes=patch.excluded_nodes or pod.excluded_nodes,
        pools=patch.pools or pod.pools,
        pull_secrets=tuple(pull_secrets),
        node_selector={**pod.node_selector, **patch.node_selector},
        tolerations=patch.tolerations or pod.tolerations,
        volumes=merged(pod.volumes, patch.volumes),
        grace_seconds=grace_seconds,
        service_account=patch.service_account or pod.service_account,
        labels={**pod.labels, **patch.labels},
        annotations={**pod.annotations, **patch.annotations},
    )


def _patched_init_containers(pod: Pod, patch: Pod) -> tuple[Container, ...]:
    changes = {change.name: change for change in patch.init_containers}
    containers = list(pod.init_containers)
    for index, container in enumerate(containers):
        if container.name in changes:
            change = changes[container.name]
            containers[index] = _changed(container, change)
    return tuple(containers)


def _changed(container: Container, change: Container) -> Container:
    return replace(
        container,
        env=merged(container.env, change.env),
        mounts=merged(container.mounts, change.mounts),
    )
