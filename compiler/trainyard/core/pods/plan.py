"""Pods: containers, variables and volumes, as every platform with Kubernetes has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeVar

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.base import LATER, PlanItem
from trainyard.plan.scheduling import Requirement, Toleration

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
INDEX = "batch.kubernetes.io/job-completion-index"
"""The annotation by which a pod of an Indexed Job knows which one it is (batch/v1)."""


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
class Container(PlanItem):
    """A container. ``requests`` and ``limits`` are per pod, by resource name.

    ``pre_stop`` is the command that runs before the container gets the signal to stop. ``run_as_user``: the number of
    the user of its programs, 0 for root; ``None`` for that of the image. ``misspelt``: names of devices that are
    written wrong, and count as what was meant. ``restart_policy`` is a container's own: an init container with
    `Always` is a sidecar (core/v1).
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
    restart_policy: str | None = field(default=None, metadata=LATER)

    def place(self, item: EnvVar | Mount) -> Route:
        """The place of one of its variables or mounts, which a patch may have brought."""
        name = "env" if isinstance(item, EnvVar) else "mounts"
        at = self.origins.get(f"{name}.{_key(item)}")
        return at or self.where(name) / getattr(self, name).index(item)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod(PlanItem):
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

    @property
    def stops_within(self) -> int:
        """The seconds that its processes have once they are told to stop: 30 where it says nothing (core/v1, PodSpec
        terminationGracePeriodSeconds)."""
        return 30 if self.grace_seconds is None else self.grace_seconds

    @property
    def all_containers(self) -> tuple[Container, ...]:
        """Its init containers, then its containers."""
        return (*self.init_containers, *self.containers)

    def container(self, name: str) -> Container | None:
        """The container of a name."""
        for container in self.containers:
            if container.name == name:
                return container
        return None

    def place(self, volume: Volume) -> Route:
        """The place of one of its volumes, which a patch may have brought."""
        at = self.origins.get(f"volumes.{volume.name}")
        return at or self.where("volumes") / self.volumes.index(volume)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicatedJob(PlanItem):
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
        origins={**pod.origins, **_places(patch, "volumes")},
    )


def _places(patch: PlanItem, name: str) -> dict[str, Route]:
    """The place of each item of a list in what is laid over another."""
    items: tuple[EnvVar | Mount | Volume, ...] = getattr(patch, name)
    if not items:
        return {}
    at = patch.where(name)
    keys = [f"{name}.{_key(item)}" for item in items]
    return {key: patch.origins.get(key, at / index) for index, key in enumerate(keys)}


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
        origins={**container.origins, **_places(change, "env"), **_places(change, "mounts")},
    )


DOMAIN = "cluster.local"  # nodeadm configures it in the kubelet (awslabs/amazon-eks-ami, internal/kubelet/config.go)
