"""What the exporters of a cluster say when all of its nodes are there, as text that a real Prometheus can scrape.

Each exporter says of a node, GPU or pod what its own published output has:
- node_exporter a7dcc3a0, collector/fixtures/e2e-output.txt: eight modes of each CPU; of meminfo and vmstat one each
- kube-state-metrics c92fe0c5, internal/store: pod_test.go has five phases of a pod, node_test.go three states of each
  condition of a node; conditions are the kubelet's four, the monitoring agent's, and the detector's
- cadvisor 6a0c4f25, lib/metrics/testdata/prometheus_metrics: one each of a container
- dcgm-exporter d5e5f510, README.md: one each of a GPU
- OpenCost 5f653330, pkg/costmodel/metrics.go and pkg/metrics: one each of a node, container, volume or controller

The nodes are those of the plan, their agents what ``explain`` lists, file systems those of AL2023 (setup-local-disks of
awslabs/amazon-eks-ami 029ecebc). Nothing here asks what the estimate counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.catalog import InstanceType, load_catalog
from trainyard.eks.flux.plan import HelmRelease, Stage
from trainyard.eks.health.plan import AGENT_CONDITIONS, ProblemDetector
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.nodes.plan import NodePool
from trainyard.extensions.observability.monitoring.scripts.efa_exporter import COUNTERS

from monitoring.observed import plan, release

MODES = ("idle", "iowait", "irq", "nice", "softirq", "steal", "system", "user")
PHASES = ("Failed", "Pending", "Running", "Succeeded", "Unknown")
STATES = ("false", "true", "unknown")
OF_KUBELET = ("DiskPressure", "MemoryPressure", "PIDPressure", "Ready")
MOUNTS = ("/", "/boot/efi", "/run", "/tmp")
OF_LOCAL_DISKS = ("/mnt/k8s-disks/0", "/var/lib/containerd", "/var/log/pods")
MOST = {"h100": 16, "block": 4}
"""Nodes that a pool has at most, by the spec."""
CONTROLLERS = 32
"""Pods of controllers: those that ``controllers`` of the add-ons name, with Flux, CoreDNS, CSI and monitoring."""


@dataclass(frozen=True)
class Node:
    """A node, its type, and the pods on it: agents, and one of a job."""

    name: str
    type: InstanceType
    pods: tuple[str, ...]


def nodes() -> list[Node]:
    """Every node that the pools may have, and the system's."""
    catalog = load_catalog()
    found = []
    for pool in plan().of(NodePool):
        instance = catalog.instance(pool.instance_types[0])
        assert instance is not None
        agents = _agents(pool.title)
        for index in range(MOST[pool.title]):
            name = f"{pool.title}-{index}"
            found.append(Node(name, instance, tuple(f"{each}-{name}" for each in (*agents, "job"))))
    system = catalog.instance("c7g.2xlarge")
    assert system is not None
    for index in range(2):
        name = f"system-{index}"
        controllers = tuple(f"controller-{index}-{number}" for number in range(CONTROLLERS // 2))
        agents = tuple(f"agent-{number}-{name}" for number in range(8))
        found.append(Node(name, system, (*controllers, *agents)))
    return found


def _agents(pool: str) -> list[str]:
    """The DaemonSets on a node of a pool, as the reason for its share has them."""
    for value in plan().derived:
        listed = re.match(r"DaemonSets \((.+)\)$", value.reason)
        if value.object == f"pool/{pool}" and listed is not None:
            return listed[1].split(", ")
    raise AssertionError(pool)


def node_exporter(node: Node) -> Iterator[str]:
    """One node's."""
    for cpu in range(node.type.vcpus):
        yield from (f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}} 1' for mode in MODES)
    for mount in (*MOUNTS, *(OF_LOCAL_DISKS if node.type.gpus else ())):
        for name in ("size_bytes", "avail_bytes", "free_bytes", "files"):
            yield f'node_filesystem_{name}{{device="/dev/nvme0n1",fstype="xfs",mountpoint="{mount}"}} 9'
    for name in ("memory_MemTotal_bytes", "memory_MemAvailable_bytes", "memory_MemFree_bytes"):
        yield f"node_{name} 9"
    yield "node_vmstat_oom_kill 0"
    yield "node_load1 0.5"


def efa_exporter(node: Node) -> Iterator[str]:
    """One node's."""
    for device in range(node.type.efa_interfaces):
        for name in (*COUNTERS, "link_up"):
            yield f'node_amazonefa_{name}{{device="rdma{device}",port="1"}} 1'


def dcgm_exporter(node: Node) -> Iterator[str]:
    """One node's, with a reason for lower clocks on each GPU and no Xid."""
    counters: str = release("dcgm-exporter").values["customMetrics"]
    names = [line.split(",")[0] for line in counters.splitlines()]
    labels = {"DCGM_EXP_CLOCK_EVENTS_COUNT": ',clock_event="power_cap"'}
    for gpu in range(node.type.gpus):
        of_gpu = (
            f'gpu="{gpu}",UUID="GPU-{node.name}-{gpu}",pod="job-{node.name}",namespace="team-a"'
        )
        for name in names:
            if name != "DCGM_FI_DRIVER_VERSION":
                yield f"{name}{{{of_gpu}{labels.get(name, '')}}} 1"


def cadvisor(node: Node) -> Iterator[str]:
    """One node's: a container of each pod, its sandbox and the pod; periods where it has a limit of CPU."""
    for pod in node.pods:
        for container in (pod.partition("-")[0], "POD", ""):
            of = f'{_pod(pod)},container="{container}",id="/{pod}/{container}"'
            yield f"container_memory_working_set_bytes{{{of}}} 1"
            yield f"container_cpu_usage_seconds_total{{{of}}} 1"
            if container == "job":
                yield f"container_cpu_cfs_periods_total{{{of}}} 1"
                yield f"container_cpu_cfs_throttled_periods_total{{{of}}} 1"


def _pod(pod: str) -> str:
    namespace = "team-a" if pod.startswith("job") else "kube-system"
    return f'namespace="{namespace}",pod="{pod}"'


def state_metrics() -> Iterator[str]:
    """Of the whole cluster: nodes, pods, controllers, JobSets and the objects of Flux."""
    for node in nodes():
        of = f'node="{node.name}",label_node_kubernetes_io_instance_type="{node.type.name}"'
        yield f"kube_node_labels{{{of}}} 1"
        for condition in _conditions(node):
            for state in STATES:
                of = f'node="{node.name}",condition="{condition}",status="{state}"'
                yield f"kube_node_status_condition{{{of}}} 0"
        for pod in node.pods:
            of = f'{_pod(pod)},uid="{pod}"'
            run = "llama-1a2b3" if pod.startswith("job") else ""
            yield f'kube_pod_labels{{{of},label_jobset_sigs_k8s_io_jobset_name="{run}"}} 1'
            yield from (f'kube_pod_status_phase{{{of},phase="{each}"}} 0' for each in PHASES)
            yield f"kube_pod_start_time{{{of}}} 1"
            yield f"kube_pod_info{{{of}}} 1"
            yield from _of_container(pod, node)
        for kind in ("capacity", "allocatable"):
            for resource in _resources(node):
                of = f'node="{node.name}",resource="{resource}",unit="integer"'
                yield f"kube_node_status_{kind}{{{of}}} 1"
    for number in range(CONTROLLERS // 2):
        for name in ("spec_replicas", "status_replicas_available"):
            yield f'kube_deployment_{name}{{namespace="ns",deployment="{number}"}} 2'
        yield f'kube_replicaset_owner{{namespace="ns",replicaset="{number}-7d4cf"}} 1'
    for namespace in NAMESPACES:
        yield f'kube_namespace_labels{{namespace="{namespace}"}} 1'
    for volume in VOLUMES:
        yield f'kube_persistentvolume_capacity_bytes{{persistentvolume="{volume}"}} 1'
        for name in ("info", "resource_requests_storage_bytes"):
            yield f'kube_persistentvolumeclaim_{name}{{persistentvolumeclaim="{volume}"}} 1'


NAMESPACES = ("default", "kube-system", "flux-system", "monitoring", "logging", "team-a", "team-b")
VOLUMES = ("prometheus", "alertmanager", "checkpoints")
_OF_NODES = (
    *("cpu", "memory", "pods", "ephemeral_storage", "hugepages_1Gi", "hugepages_2Mi"),
    "attachable_volumes_aws_ebs",
)


def _resources(node: Node) -> tuple[str, ...]:
    """What a node has (kube-state-metrics c92fe0c5, internal/store/node.go)."""
    if node.type.gpus:
        return (*_OF_NODES, "nvidia_com_gpu", "vpc_amazonaws_com_efa")
    return _OF_NODES


def _of_container(pod: str, node: Node) -> Iterator[str]:
    """A container of a pod: an agent requests two resources and has a limit of memory, a job requests GPUs and EFA too
    (kube-state-metrics c92fe0c5, internal/store/pod.go)."""
    of = f'{_pod(pod)},uid="{pod}",container="main"'
    yield f"kube_pod_container_status_running{{{of}}} 1"
    yield f'kube_pod_owner{{{_pod(pod)},uid="{pod}"}} 1'
    requests, limits = ["cpu", "memory"], ["memory"]
    if pod.startswith("job"):
        more = ["nvidia_com_gpu", "vpc_amazonaws_com_efa", "hugepages_2Mi"]
        requests, limits = [*requests, *more], [*limits, *more]
    for name, resources in (("requests", requests), ("limits", limits)):
        for resource in resources:
            labels = f'{of},node="{node.name}",resource="{resource}"'
            yield f"kube_pod_container_resource_{name}{{{labels}}} 1"


def _conditions(node: Node) -> list[str]:
    found = [*OF_KUBELET, *AGENT_CONDITIONS]
    if node.type.gpus:
        for detector in plan().of(ProblemDetector):
            found += [name for monitor in detector.monitors for name in monitor.sets()]
    return found


def custom_resources() -> Iterator[str]:
    """JobSets, and the objects of Flux: a release and a source each, and a Kustomization a stage."""
    for _ in plan().of(TrainJob):
        for name in ("restarts", "max_restarts"):
            yield f'trainyard_jobset_{name}{{namespace="team-a",jobset="llama-1a2b3"}} 1'
    objects = [f"HelmRelease/{each.name}" for each in plan().of(HelmRelease)]
    objects += [f"HelmRepository/{each.name}" for each in plan().of(HelmRelease)]
    objects += [f"Kustomization/{each.name}" for each in plan().of(Stage)]
    for each in objects:
        kind, name = each.split("/")
        yield f'gotk_resource_info{{kind="{kind}",name="{name}",ready="True"}} 1'


def opencost() -> Iterator[str]:
    """Of the whole cluster, without what it has of kube-state-metrics a second time."""
    for node in nodes():
        of = f'node="{node.name}",instance_type="{node.type.name}",provider_id="i-{node.name}"'
        costs = ("cpu_hourly_cost", "ram_hourly_cost", "gpu_hourly_cost", "total_hourly_cost")
        for name in (*costs, "gpu_count"):
            yield f"node_{name}{{{of}}} 1"
        yield f"kubecost_node_is_spot{{{of}}} 0"
        for kind in ("capacity", "allocatable"):
            for name in ("cpu_cores", "memory_bytes"):
                yield f'kube_node_status_{kind}_{name}{{node="{node.name}"}} 1'
        for pod in node.pods:
            of = f'{_pod(pod)},container="main",node="{node.name}"'
            for name in ("cpu_allocation", "memory_allocation_bytes", "gpu_allocation"):
                yield f"container_{name}{{{of}}} 1"
    for volume in VOLUMES:
        for name in ("pv_hourly_cost", "kubecost_pv_info", "pod_pvc_allocation"):
            yield f'{name}{{persistentvolume="{volume}"}} 1'
    for number in range(CONTROLLERS // 2):
        yield f'deployment_match_labels{{namespace="ns",deployment="{number}"}} 1'
        yield f'service_selector_labels{{namespace="ns",service="{number}"}} 1'
    yield "kubecost_cluster_management_cost 0.1"


OF_NODES = {
    "node-exporter": node_exporter,
    "efa-exporter": efa_exporter,
    "dcgm-exporter": dcgm_exporter,
    "cadvisor": cadvisor,
}
OF_CLUSTER = {"kube-state-metrics": state_metrics, "custom-resources": custom_resources}
