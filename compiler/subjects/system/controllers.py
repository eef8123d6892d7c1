"""What the controllers on the system's nodes ask for: requests that we set, and those of the charts as released.

The least that is certain: what no source tells the request of counts as nothing, so that nothing is refused by a guess.
"""

from __future__ import annotations

from compiler.dataclass import dataclass
from compiler.resolve.context import Context
from compiler.subjects.pools.daemons import OURS, always
from compiler.subjects.system.availability import REPLICAS


@dataclass(frozen=True, slots=True)
class Controller:
    """A Deployment: its pods, and the requests of one (milli-CPU, MiB), with the source of the figures."""

    name: str
    pods: int
    cpu: int
    memory: int
    source: str


# Read at the tags that `catalog/data/releases.json` pins, 2026-11. Trainer's chart asks for nothing.
_ALWAYS = (
    Controller("karpenter", REPLICAS, 1000, 1024, OURS),
    Controller("kueue", REPLICAS, 500, 512, "kueue v0.19.2 charts/kueue/values.yaml"),
    Controller(
        "jobset", REPLICAS, 500, 128, "jobset v0.12.0 charts/jobset/values.yaml"
    ),
    Controller(
        "trainer", REPLICAS, 0, 0, "trainer v2.3.0 charts/kubeflow-trainer/values.yaml"
    ),
    # As eksctl installs it where EKS does not: the same manifest.
    Controller(
        "coredns",
        2,
        100,
        70,
        "eksctl v0.230.0 pkg/addons/default/assets/coredns-1.35.json",
    ),
    # The EKS add-on has two pods (re:Post, Kubernetes Metrics Server setup recommendations).
    Controller(
        "metrics-server",
        2,
        100,
        200,
        "metrics-server v0.9.0 manifests/base/deployment.yaml",
    ),
    # Flux 2.9.4 has source-controller 1.9.4, kustomize-controller 1.9.4, helm-controller 1.6.3 and
    # notification-controller 1.9.3, and changes no requests (flux2 v2.9.4 manifests/bases).
    Controller(
        "source-controller",
        1,
        50,
        64,
        "source-controller v1.9.1 config/manager/deployment.yaml",
    ),
    Controller(
        "kustomize-controller",
        1,
        100,
        64,
        "kustomize-controller v1.9.4 config/manager/deployment.yaml",
    ),
    Controller(
        "helm-controller",
        1,
        100,
        64,
        "helm-controller v1.6.3 config/manager/deployment.yaml",
    ),
    Controller(
        "notification-controller",
        1,
        100,
        64,
        "notification-controller v1.9.3 config/manager/deployment.yaml",
    ),
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
    two pods on two nodes (karpenter v1.14.1 charts/karpenter/values.yaml, podAntiAffinity)."""

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
        memory_mib=sum(each.pods * each.memory for each in _ALWAYS)
        + nodes * agents.memory,
        each_cpu=_KARPENTER.cpu + agents.cpu,
        each_memory=_KARPENTER.memory + agents.memory,
    )


def _agents(context: Context) -> Agents:
    """The CNI, the monitoring agent and CSI drivers where there are any; and a pod each of kube-proxy and the pod
    identity agent, of which EKS publishes no manifest."""
    names = ["aws-node"]
    if context.spec.health.monitoring_agent:
        names.append("eks-node-monitoring-agent")
    if any(each.fsx_lustre for each in context.spec.storage):
        names.append("fsx-csi-node")
    if any(each.s3 for each in context.spec.storage):
        names.append("s3-csi-node")
    running = always(*names)
    return Agents(
        len(running) + 2,
        sum(each.cpu for each in running),
        sum(each.memory for each in running),
    )
