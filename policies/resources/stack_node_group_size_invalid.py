from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.judge.model.sizes import contradictions
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule


@rule("LIM058")
def stack_node_group_size_invalid(group: NodeGroupStack) -> Iterator[Finding]:
    """The sizes of a node group of a template contradict each other.

    EKS requires `MinSize` ≤ `DesiredSize` ≤ `MaxSize` (EKS API, NodegroupScalingConfig), and makes no group with
    others.

    ## Fails

        Resources:
          Gpu:
            Type: AWS::EKS::Nodegroup
            Properties:
              ClusterName: base
              NodeRole: arn:aws:iam::111122223333:role/nodes
              Subnets: [subnet-0a1b2c3d4e5f60718]
              ScalingConfig: {MinSize: 2, DesiredSize: 4, MaxSize: 3}

    ## Passes

        # as the first that fails, but
        Resources: {Gpu: {Properties: {ScalingConfig: {MaxSize: 4}}}}
    """
    names = worded(group, "MinSize DesiredSize MaxSize", "min_size desired_size max_size").split()
    for wrong in contradictions(group, names):
        yield Finding(
            f"node group `{group.logical}` {wrong.what}",
            group.where(wrong.field),
            label="EKS refuses it",
            help=wrong.help,
        )
