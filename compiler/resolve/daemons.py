"""What the DaemonSets of this compilation take of every node.

Requests that we set ourselves (Helm values, our own DaemonSets) and those of the EKS add-ons.
"""

from __future__ import annotations

from compiler.catalog import InstanceType, Step
from compiler.dataclass import dataclass
from compiler.spec.cluster import ClusterSpec


@dataclass(frozen=True, slots=True)
class Daemon:
    """A DaemonSet: requests of one pod (milli-CPU, MiB) and the source of the figure."""

    name: str
    cpu: int
    memory: int
    source: str
    where: str = "all"


OURS = "set by this compilation"
AGENT_REQUESTS = {"cpu": "100m", "memory": "256Mi"}
DCGM_REQUESTS = {"cpu": "100m", "memory": "512Mi"}
PLUGIN_REQUESTS = {"cpu": "50m", "memory": "128Mi"}
DETECTOR_REQUESTS = {"cpu": "50m", "memory": "128Mi"}

_ALWAYS = (
    # amazon-vpc-cni-k8s v1.23.0 charts/aws-vpc-cni values: aws-node 25m, aws-eks-nodeagent 25m.
    Daemon("aws-node", 50, 0, "amazon-vpc-cni-k8s v1.23.0 chart values"),
    Daemon("kube-proxy", 100, 0, "EKS add-on kube-proxy: request 100m"),
    Daemon("eks-pod-identity-agent", 0, 0, "EKS add-on eks-pod-identity-agent: no request"),
)


def daemons(spec: ClusterSpec, instance: InstanceType, *, efa: bool) -> list[Daemon]:
    """The DaemonSets that land on a node of a pool."""
    found = list(_ALWAYS)
    if instance.gpus:
        found.append(Daemon("nvidia-device-plugin", 50, 128, OURS))
        if spec.health.problem_detector:
            found.append(Daemon("node-problem-detector", 50, 128, OURS))
    if efa:
        found.append(Daemon("aws-efa-k8s-device-plugin", 50, 128, OURS))
    if spec.health.monitoring_agent:
        found.append(Daemon("eks-node-monitoring-agent", 100, 256, OURS))
        # eks-node-monitoring-agent 1.7.0 chart values: no DCGM on arm64.
        if instance.gpus and instance.arch == "amd64":
            found.append(Daemon("dcgm-server", 100, 512, OURS))
    if any(each.fsx_lustre for each in spec.storage):
        # One container of 10m, 40Mi (node) and two of 10m, 32Mi (sidecars).
        found.append(Daemon("fsx-csi-node", 30, 104, "aws-fsx-csi-driver 1.17.0 chart values"))
    if any(each.s3 for each in spec.storage):
        # Three containers of 10m, 40Mi; Mountpoint's own pods ask for nothing (pkg/podmounter/mppod, v2.7.0).
        found.append(Daemon("s3-csi-node", 30, 120, "aws-mountpoint-s3-csi-driver 2.7.0 chart values"))
    return found


def taken(found: list[Daemon]) -> Step:
    """All of them as one subtraction."""
    names = ", ".join(each.name for each in found if each.cpu or each.memory)
    return Step(f"DaemonSets ({names})", sum(each.cpu for each in found), sum(each.memory for each in found), OURS)
