from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule
from trainyard.plan import Plan


@rule("LIM012", aliases=("node-group-bounds",), alone=True)
def node_group_size_invalid(plan: Plan) -> Iterator[Finding]:
    """The sizes of a node group contradict each other.

    EC2 Auto Scaling requires `minSize` ≤ `desiredCapacity` ≤ `maxSize`; eksctl 0.230 refuses others, and EKS does
    (EKS API, NodegroupScalingConfig).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, minSize: 2, desiredCapacity: 4, maxSize: 3}]

        Resources:
          Gpu:
            Type: AWS::EKS::Nodegroup
            Properties:
              ClusterName: base
              NodeRole: arn:aws:iam::111122223333:role/nodes
              Subnets: [subnet-0a1b2c3d4e5f60718]
              ScalingConfig: {MinSize: 2, DesiredSize: 4, MaxSize: 3}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, minSize: 2, desiredCapacity: 3, maxSize: 3}]
    """
    for group in plan.of(NodeGroup):
        yield from _judged(group, group.title, ("minSize", "desiredCapacity", "maxSize"))
    for stack in plan.of(NodeGroupStack):
        in_aws = worded(stack, "MinSize DesiredSize MaxSize", "min_size desired_size max_size")
        yield from _judged(stack, stack.logical, in_aws.split())


def _judged(
    group: NodeGroup | NodeGroupStack, title: str, names: Sequence[str]
) -> Iterator[Finding]:
    """What is wrong with the sizes of a group, which its file calls so: the least, the wanted, the most."""
    least, wanted, most = group.min_size, group.desired, group.max_size
    if wanted is not None and most is not None and wanted > most:
        yield Finding(
            f"node group `{title}` asks for {wanted} nodes and may have at most {most}",
            group.where("desired"),
            help=f"lower `{names[1]}`, or raise `{names[2]}`",
        )
    elif wanted is not None and least is not None and wanted < least:
        yield Finding(
            f"node group `{title}` asks for {wanted} nodes and has at least {least}",
            group.where("desired"),
            help=f"raise `{names[1]}`, or lower `{names[0]}`",
        )
    elif least is not None and most is not None and least > most:
        yield Finding(
            f"node group `{title}` has at least {least} nodes and at most {most}",
            group.where("max_size"),
            help=f"raise `{names[2]}`, or lower `{names[0]}`",
        )
