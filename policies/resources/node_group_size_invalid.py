from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodeGroup
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
    least = group.min_size
    wanted = group.desired
    most = group.max_size
    if wanted is not None and most is not None and wanted > most:
        yield Finding(
            f"node group `{group.title}` asks for {wanted} nodes and may have at most {most}",
            group.where("desired"),
            help="lower `desiredCapacity`, or raise `maxSize`",
        )
    elif wanted is not None and least is not None and wanted < least:
        yield Finding(
            f"node group `{group.title}` asks for {wanted} nodes and has at least {least}",
            group.where("desired"),
            help="raise `desiredCapacity`, or lower `minSize`",
        )
    elif least is not None and most is not None and least > most:
        yield Finding(
            f"node group `{group.title}` has at least {least} nodes and at most {most}",
            group.where("max_size"),
            help="raise `maxSize`, or lower `minSize`",
        )
