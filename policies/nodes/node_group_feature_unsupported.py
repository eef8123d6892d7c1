from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("PLC023", aliases=("node-group-type-cannot",))
def node_group_feature_unsupported(launch: Launch, world: World) -> Iterator[Finding]:
    """A node group or a launch template needs a feature that its instance type does not have.

    EFA only on types that have interfaces for it, Capacity Blocks only for types that are sold so (EC2
    DescribeInstanceTypes): eksctl fails, or the nodes never come. EFA006 says it of interfaces of launch templates.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: efa, instanceType: g5.xlarge, efaEnabled: true, nodeRepairConfig: {enabled: true}}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: efa, instanceType: g5.8xlarge, efaEnabled: true, nodeRepairConfig: {enabled: true}}]
    """
    for name in launch.instance_types:
        instance = world.catalog.instance(name)
        if instance is None:
            continue
        efa = instance.efa_interfaces or "efa_interfaces" in instance.unknown
        block = instance.capacity_block or "usage_classes" in instance.unknown
        if isinstance(launch, NodeGroup) and launch.efa and not efa:
            yield Finding(
                f"{launch.words} enables EFA, and `{name}` has none",
                launch.where("efa"),
                help="take a larger size, or remove `efaEnabled`",
            )
        if launch.capacity_block and not block:
            yield Finding(
                f"`{name}` of {launch.words} is not sold in Capacity Blocks",
                launch.where_type(name),
                help="take a type like `p5.48xlarge`",
            )
