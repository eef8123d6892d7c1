"""HyperPod's agent, which watches the nodes of instance groups and has sick ones rebooted or replaced: its alert, and
what other alerts say of it."""

from __future__ import annotations

from trainyard.eks.health.alert import CRITICAL, Alert
from trainyard.eks.health.watch import NodeWatch, Shown
from trainyard.eks.jobs.pod_labels import plain
from trainyard.extensions.hyperpod.groups.plan import HEALTH

_LABEL = f"label_{plain(HEALTH)}"
_PENDING = "UnschedulablePending(Replacement|Reboot)"
"""What the label says of a node whose check failed (SageMaker developer guide,
sagemaker-hyperpod-eks-resiliency-node-labels)."""
_REPLACE = (
    f"`kubectl label node NODE {HEALTH}=UnschedulablePendingReplacement --overwrite` has HyperPod replace it, "
    "`…PendingReboot` reboot it (SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-manual)."
)

_SICK = f'max by (node, {_LABEL}) (kube_node_labels{{{_LABEL}=~"{_PENDING}"}}) > 0'

AGENT = NodeWatch(
    sick=Shown(
        "Nodes that wait to be replaced or rebooted",
        _SICK,
        f"{{{{node}}}} {{{{{_LABEL}}}}}",
        "HyperPod's agent or a deep health check found a fault.",
    ),
    silent="HyperPod replaces the node where `nodeRecovery` is `Automatic`; how soon is not published.",
    replace=(
        "HyperPod's agent reboots or replaces the node where the fault is one that it knows, and "
        "`nodeRecovery` is `Automatic`.",
        _REPLACE,
    ),
    missing="`aws sagemaker list-cluster-nodes --cluster-name CLUSTER`: a node that does not come has the reason.",
    alerts=(
        Alert(
            name="HyperPodNodeSick",
            expr=_SICK,
            wait="15m",
            severity=CRITICAL,
            summary=f"HyperPod says of {{{{ $labels.node }}}}: {{{{ $labels.{_LABEL} }}}}",
            means="A deep health check or HyperPod's agent found a fault, and the node has neither been rebooted nor "
            "replaced for a quarter of an hour. No job starts on it.",
            steps=(
                "`kubectl describe node`: the labels `fault-type` and `fault-reason` name the fault.",
                "With `nodeRecovery: None` nobody replaces it: `aws sagemaker batch-replace-cluster-nodes`.",
                "No spare instance: `aws sagemaker list-cluster-nodes --cluster-name CLUSTER` says so.",
            ),
        ),
    ),
)
