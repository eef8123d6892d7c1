from __future__ import annotations

from collections.abc import Iterator

from compiler.platforms.eks.nodes.plan import NodeGroup
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC023", aliases=("node-group-type-cannot",))
def node_group_feature_unsupported(group: NodeGroup, world: World) -> Iterator[Finding]:
    """A managed node group needs a feature that its instance type does not have.

    EFA only on types that have interfaces for it, Capacity Blocks only for types that are sold so (EC2
    DescribeInstanceTypes): eksctl fails, or the nodes never come.

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
    for name in group.instance_types:
        instance = world.catalog.instance(name)
        if instance is None:
            continue
        efa = instance.efa_interfaces or "efa_interfaces" in instance.unknown
        block = instance.capacity_block or "usage_classes" in instance.unknown
        if group.efa and not efa:
            yield Finding(
                f"node group `{group.title}` enables EFA, and `{name}` has none",
                group.where("efa"),
                help="take a larger size, or remove `efaEnabled`",
            )
        if group.capacity_block and not block:
            yield Finding(
                f"`{name}` of node group `{group.title}` is not sold in Capacity Blocks",
                group.where_type(name),
                help="take a type like `p5.48xlarge`",
            )
