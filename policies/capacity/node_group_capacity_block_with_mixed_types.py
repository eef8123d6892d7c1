from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch
from trainyard.judge.policy.rule import Finding, rule


@rule("PLC025", aliases=("node-group-block-of-types",))
def node_group_capacity_block_with_mixed_types(launch: Launch) -> Iterator[Finding]:
    """A managed node group in a Capacity Block has several instance types.

    A Capacity Block is of one instance type (EC2 user guide, Capacity Blocks): nodes of the others have no capacity
    behind them.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - name: block
            instanceTypes: [p5.48xlarge, p5en.48xlarge]
            nodeRepairConfig: {enabled: true}
            instanceMarketOptions: {marketType: capacity-block}
            capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-0a1b2c3d4e5f60718}}

    ## Passes

        # as the first that fails, but
        kind: ClusterConfig
        managedNodeGroups: [{name: block, instanceTypes: [p5.48xlarge]}]
    """
    if launch.capacity_block and len(launch.instance_types) > 1:
        yield Finding(
            f"{launch.words} is in a Capacity Block and has {len(launch.instance_types)} instance types",
            launch.where("instance_types"),
            label="a block is of one type",
            help="keep the type of the block",
        )
