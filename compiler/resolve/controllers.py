"""What the controllers on the system's nodes ask for: requests that we set, and those of the charts as released."""

from __future__ import annotations

from compiler.dataclass import dataclass
from compiler.resolve.availability import REPLICAS
from compiler.resolve.context import Context
from compiler.resolve.daemons import OURS


@dataclass(frozen=True, slots=True)
class Controller:
    """A Deployment: its pods, and the requests of one (milli-CPU, MiB), with the source of the figures."""

    name: str
    pods: int
    cpu: int
    memory: int
    source: str


_ALWAYS = (
    Controller("karpenter", REPLICAS, 1000, 1024, OURS),
    Controller("kueue", REPLICAS, 500, 512, "kueue 0.19.2 chart values"),
    Controller("jobset", REPLICAS, 500, 128, "jobset 0.12.0 chart values"),
    Controller("trainer", REPLICAS, 0, 0, "kubeflow-trainer 2.3.0 chart values: no request"),
    Controller("coredns", 2, 100, 70, "EKS add-on coredns: requests 100m, 70Mi"),
    Controller("metrics-server", 2, 100, 200, "EKS add-on metrics-server: requests 100m, 200Mi"),
    Controller("flux", 4, 100, 64, "flux 2 manifests: four controllers of 100m, 64Mi"),
)
_KARPENTER = _ALWAYS[0]


@dataclass(frozen=True, slots=True)
class Agents:
    """What the DaemonSets take of a node of the system: pods, milli-CPU, MiB."""

    pods: int
    cpu: int
    memory: int


@dataclass(frozen=True, slots=True)
class Needs:
    """What all nodes of the system must have together, and what one must have that runs Karpenter: its chart keeps its
    two pods on two nodes (karpenter 1.14.1 chart values, affinity)."""

    pods: int
    cpu_milli: int
    memory_mib: int
    each_cpu: int
    each_memory: int


def needs(context: Context, nodes: int) -> Needs:
    """What the system asks for on so many nodes."""
    agents = _agents(context)
    return Needs(
        pods=sum(each.pods for each in _ALWAYS) + nodes * agents.pods,
        cpu_milli=sum(each.pods * each.cpu for each in _ALWAYS) + nodes * agents.cpu,
        memory_mib=sum(each.pods * each.memory for each in _ALWAYS) + nodes * agents.memory,
        each_cpu=_KARPENTER.cpu + agents.cpu, each_memory=_KARPENTER.memory + agents.memory,
    )


def _agents(context: Context) -> Agents:
    """aws-node 50m, kube-proxy 100m and the pod identity agent; the monitoring agent and CSI drivers where there are
    any (sources: ``daemons``)."""
    pods, cpu, memory = 3, 150, 0
    if context.spec.health.monitoring_agent:
        pods, cpu, memory = pods + 1, cpu + 100, memory + 256
    if any(each.fsx_lustre for each in context.spec.storage):
        pods, cpu, memory = pods + 1, cpu + 30, memory + 104
    if any(each.s3 for each in context.spec.storage):
        pods, cpu, memory = pods + 1, cpu + 30, memory + 120
    return Agents(pods, cpu, memory)
