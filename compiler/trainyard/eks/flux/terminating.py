"""The health of what may be Terminating: deleted, and there as long as something uses it.

Where git has it again, Flux makes it anew once it is gone. Until then it is not healthy as Flux reads it
(kustomize-controller 1.9.5, kstatus), and what comes after its stage, of all teams, would wait for that. So these kinds
are read as Flux reads them, but for that.
"""

from __future__ import annotations

from trainyard.eks.flux.plan import HealthExpression

_TERMINATING = "has(metadata.deletionTimestamp)"
# Before anybody has written a `status`, an expression cannot name it.
_READY = (
    f"{_TERMINATING} || !metadata.managedFields.exists(each, has(each.subresource))"
    " || status.conditions.all(each, each.type != 'Ready' || each.status == 'True')"
)


def of_node_classes(*, auto: bool) -> tuple[HealthExpression, ...]:
    """Classes of nodes: Karpenter keeps one until its nodes are gone (karpenter-provider-aws v1.14.1, finalizer
    `karpenter.k8s.aws/termination`)."""
    if auto:
        return (HealthExpression("eks.amazonaws.com/v1", "NodeClass", _READY),)
    return (HealthExpression("karpenter.k8s.aws/v1", "EC2NodeClass", _READY),)


def of_volumes() -> tuple[HealthExpression, ...]:
    """Volumes and claims: Kubernetes keeps them until no pod uses them."""
    bound = f"{_TERMINATING} || status.phase == 'Bound'"
    return (
        HealthExpression("v1", "PersistentVolume", "true"),
        HealthExpression("v1", "PersistentVolumeClaim", bound),
    )
