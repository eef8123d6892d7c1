from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch
from trainyard.judge.model.offers import other_sizes
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed


@rule("PLC027", aliases=("unknown-type-of-node-group",))
def unknown_node_group_instance_type(launch: Launch, world: World) -> Iterator[Finding]:
    """A node group names a size that its instance family does not have.

    EC2 refuses the launch template or the group's first node (catalog: EC2 DescribeInstanceTypes). Families that the
    catalog does not know, or knows in a few sizes, are not judged.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: gpu, instanceType: p4d.48xlarge, nodeRepairConfig: {enabled: true}}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: gpu, instanceType: p4d.24xlarge, nodeRepairConfig: {enabled: true}}]
    """
    for name in launch.instance_types:
        known = other_sizes(name, world.catalog)
        if known:
            yield Finding(
                f"there is no instance type `{name}`",
                launch.where_type(name),
                help=f"the family has {listed(known)}",
            )
