from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.model.sizes import contradictions
from trainyard.judge.policy.rule import Finding, rule


@rule("LIM012", aliases=("node-group-bounds",))
def node_group_size_invalid(group: NodeGroup) -> Iterator[Finding]:
    """The sizes of a node group contradict each other.

    EC2 Auto Scaling requires `minSize` ≤ `desiredCapacity` ≤ `maxSize`; eksctl 0.230 refuses others.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, minSize: 2, desiredCapacity: 4, maxSize: 3}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, minSize: 2, desiredCapacity: 3, maxSize: 3}]
    """
    for wrong in contradictions(group, ("minSize", "desiredCapacity", "maxSize")):
        yield Finding(
            f"node group `{group.title}` {wrong.what}", group.where(wrong.field), help=wrong.help
        )
