from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import AUTO_MODE, KARPENTER, instance_labels
from trainyard.judge.policy.rule import Finding, rule


@rule("PLC019", aliases=("label-of-auto-mode",))
def auto_mode_label_on_karpenter(pool: NodePool) -> Iterator[Finding]:
    """A node pool of Karpenter selects by a label of EKS Auto Mode.

    Auto Mode calls its labels `eks.amazonaws.com/instance-…`; Karpenter with an EC2NodeClass knows
    `karpenter.k8s.aws/instance-…` (karpenter-provider-aws v1.14.1, labels). No type has the label, so none is left.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: eks.amazonaws.com/instance-category, operator: In, values: [p]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [p]}]}}
    """
    if pool.auto or not pool.node_class:
        return  # Auto Mode has a NodeClass of its own
    for place, name in instance_labels(pool, AUTO_MODE):
        yield Finding(
            f"`{AUTO_MODE}{name}` is a label of EKS Auto Mode",
            place,
            help=f"write `{KARPENTER}{name}`",
        )
