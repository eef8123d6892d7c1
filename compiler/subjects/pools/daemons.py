"""What DaemonSets take of every node: all that could ever come to it, whether this spec asks for them or not.

So a storage that is added later, or an agent that is switched on, changes no quota, and no job that runs becomes too
large for its node. Requests that we set ourselves (Helm values, our own DaemonSets) and those of the EKS add-ons.
"""

from __future__ import annotations

from compiler.catalog import InstanceType, Step
from compiler.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Daemon:
    """A DaemonSet: requests of one pod (milli-CPU, MiB) and the source of the figure."""

    name: str
    cpu: int
    memory: int
    source: str


OURS = "set by Trainyard"
AGENT_REQUESTS = {"cpu": "100m", "memory": "256Mi"}
DCGM_REQUESTS = {"cpu": "100m", "memory": "512Mi"}
PLUGIN_REQUESTS = {"cpu": "50m", "memory": "128Mi"}
DETECTOR_REQUESTS = {"cpu": "50m", "memory": "128Mi"}

_ALWAYS = (
    # amazon-vpc-cni-k8s v1.23.0 charts/aws-vpc-cni values, and eksctl v0.230.0 pkg/addons/default/assets/aws-node.yaml:
    # aws-node 25m, aws-eks-nodeagent 25m.
    Daemon("aws-node", 50, 0, "amazon-vpc-cni-k8s v1.23.0 chart values"),
    # EKS publishes no manifest of these two. A tenth of a core is kept free for kube-proxy: a job that asks for less
    # than it could is placed, one that asks for more is not.
    Daemon(
        "kube-proxy",
        100,
        0,
        "EKS add-on kube-proxy: kept free, its request is not published",
    ),
    Daemon(
        "eks-pod-identity-agent",
        0,
        0,
        "EKS add-on eks-pod-identity-agent: no request known",
    ),
    Daemon("eks-node-monitoring-agent", 100, 256, OURS),
    # One container of 10m, 40Mi (node) and two of 10m, 32Mi (sidecars).
    Daemon("fsx-csi-node", 30, 104, "aws-fsx-csi-driver 1.17.0 chart values"),
    # Three containers of 10m, 40Mi; Mountpoint's own pods ask for nothing (pkg/podmounter/mppod, v2.7.0).
    Daemon("s3-csi-node", 30, 120, "aws-mountpoint-s3-csi-driver 2.7.0 chart values"),
)
_OF_GPUS = (
    Daemon("nvidia-device-plugin", 50, 128, OURS),
    Daemon("node-problem-detector", 50, 128, OURS),
)


def always(*names: str) -> list[Daemon]:
    """Those of some names that may land on every node, those of the system too."""
    return [each for each in _ALWAYS if each.name in names]


def daemons(instance: InstanceType) -> list[Daemon]:
    """The DaemonSets that may land on a node of a type."""
    found = list(_ALWAYS)
    if instance.gpus:
        found += _OF_GPUS
        # eks-node-monitoring-agent 1.7.0 chart values: no DCGM on arm64.
        if instance.arch == "amd64":
            found.append(Daemon("dcgm-server", 100, 512, OURS))
    if instance.efa_interfaces:
        found.append(Daemon("aws-efa-k8s-device-plugin", 50, 128, OURS))
    return found


def taken(found: list[Daemon]) -> Step:
    """All of them as one subtraction."""
    names = ", ".join(each.name for each in found if each.cpu or each.memory)
    return Step(
        f"DaemonSets ({names})",
        sum(each.cpu for each in found),
        sum(each.memory for each in found),
        OURS,
    )
