from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch
from trainyard.judge.model.worded import spelled
from trainyard.judge.policy.rule import Finding, rule


@rule("PLC022", aliases=("node-group-block-with-placement",))
def node_group_placement_group_with_capacity_block(launch: Launch) -> Iterator[Finding]:
    """A placement group constrains a managed node group that comes from a Capacity Block.

    EC2 places a block closely by itself (EC2 user guide, Capacity Blocks), and where it was placed the group may
    have no room; aws-parallelcluster 3.16 says that the constraint should not be set.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - name: block
            instanceType: p5.48xlarge
            nodeRepairConfig: {enabled: true}
            placement: {groupName: close}
            instanceMarketOptions: {marketType: capacity-block}
            capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-0a1b2c3d4e5f60718}}

    ## Passes

        # as the first that fails, but
        kind: ClusterConfig
        managedNodeGroups: [{name: block, placement: null}]
    """
    if launch.capacity_block and launch.placement_group:
        yield Finding(
            f"{launch.words} is in a Capacity Block and in placement group `{launch.placement_group}`",
            launch.where("placement_group"),
            label="a block is placed closely by itself",
            help=f"remove `{spelled(launch, 'Placement')}`",
        )
