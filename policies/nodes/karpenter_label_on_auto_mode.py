from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import AUTO_MODE, KARPENTER, instance_labels
from trainyard.judge.policy.rule import Finding, rule


@rule("PLC074")
def karpenter_label_on_auto_mode(pool: NodePool) -> Iterator[Finding]:
    """A node pool of EKS Auto Mode selects by a label of Karpenter.

    Auto Mode calls the labels of instances `eks.amazonaws.com/instance-…` (EKS user guide, create-node-pool: supported
    labels). No type has one of Karpenter's `karpenter.k8s.aws/instance-…`, so none is left.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          disruption: {budgets: [{nodes: "0", reasons: [Drifted]}]}
          template:
            spec:
              nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
              requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [p]}]

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          disruption: {budgets: [{nodes: "0", reasons: [Drifted]}]}
          template:
            spec:
              nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
              requirements: [{key: eks.amazonaws.com/instance-category, operator: In, values: [p]}]
    """
    if not pool.auto:
        return
    for place, name in instance_labels(pool, KARPENTER):
        yield Finding(
            f"`{KARPENTER}{name}` is a label of Karpenter", place, help=f"write `{AUTO_MODE}{name}`"
        )
