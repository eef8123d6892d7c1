"""What watches the nodes of pools and replaces them: its alerts, and what other alerts say of it."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.eks.health.alert import CRITICAL, Alert
from trainyard.eks.settings.launcher import SICK_SHARE
from trainyard.language.dataclass import dataclass

__all__ = ["KARPENTER", "NodeWatch", "Shown"]


class Shown(NamedTuple):
    """A query as dashboards show it."""

    title: str
    query: str
    legend: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWatch:
    """``alerts``: what it says of nodes. ``silent``: what becomes of a node whose kubelet does not answer.

    ``replace``: the steps by which people replace a node. ``missing``: the step that says why a node does not come.
    ``sick``: a query for the nodes that are sick, with what they are shown by.
    """

    sick: Shown
    alerts: tuple[Alert, ...]
    silent: str
    replace: tuple[str, ...]
    missing: str


CONDITIONS = (
    "AcceleratedHardwareReady|ContainerRuntimeReady|KernelReady|NetworkingReady|StorageReady"
)
"""Conditions of the node monitoring agent: False means sick (eks-node-monitoring-agent v1.7.0)."""
_SICK = (
    f'max by (node) (kube_node_status_condition{{condition=~"{CONDITIONS}|Ready",status="false"}}'
    ' or kube_node_status_condition{condition="Ready",status="unknown"})'
)
"""Whether a node has a condition that Karpenter repairs, however long it has had it (karpenter-provider-aws v1.14.1,
RepairPolicies)."""
_FAULTS = f'max by (node, condition) (kube_node_status_condition{{condition=~"{CONDITIONS}",status="false"}}) > 0'
_OF_POOLS = 'kube_node_labels{label_karpenter_sh_nodepool!=""}'

KARPENTER = NodeWatch(
    sick=Shown(
        "Conditions that are false",
        _FAULTS,
        "{{node}} {{condition}}",
        "The node monitoring agent found a fault; Karpenter replaces the node.",
    ),
    silent="Karpenter replaces the node after 30 minutes where `health.nodeRepair` is on.",
    replace=(
        "`kubectl cordon NODE`, so that no job comes back to it; the node monitoring agent and Karpenter replace "
        "the node where the fault is one that they know.",
        "Where the node stays: delete its NodeClaim (`kubectl delete nodeclaim NAME`) when its job has saved.",
    ),
    missing="`kubectl get nodeclaims`: a NodeClaim that is not launched has the reason (no capacity, a limit).",
    alerts=(
        Alert(
            name="NodeUnhealthy",
            expr=_FAULTS,
            wait="5m",
            severity=CRITICAL,
            summary="{{ $labels.node }} reports {{ $labels.condition }}=False",
            means="The node monitoring agent found a fault of hardware, network, kernel or storage. Karpenter "
            "deletes the node ten minutes later.",
            steps=("`kubectl describe node`: the condition's message has the fault.",),
        ),
        Alert(
            name="NodeRepairStopped",
            expr=(
                f"sum by (label_karpenter_sh_nodepool) ({_SICK}"
                f" * on (node) group_left (label_karpenter_sh_nodepool) {_OF_POOLS})"
                f" > ceil(count by (label_karpenter_sh_nodepool) ({_OF_POOLS}) * {SICK_SHARE} / 100)"
            ),
            wait="10m",
            severity=CRITICAL,
            summary="more than a fifth of pool {{ $labels.label_karpenter_sh_nodepool }} is sick: nodes are no "
            "longer replaced",
            means=f"Karpenter stops its repair above {SICK_SHARE} % of the nodes, rounded up (v1.14.1, node/health): a "
            "cause that all nodes share would replace them for ever.",
            steps=(
                "Look for what they share: an image, a driver, a network.",
                "Delete the NodeClaims of nodes that are broken by hand.",
            ),
        ),
    ),
)
"""Of Karpenter and EKS Auto Mode, with the node monitoring agent of EKS."""
