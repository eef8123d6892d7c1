from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.judge.model.worded import spelled
from trainyard.judge.policy.rule import Finding, rule


@rule("PLC028", aliases=("block-without-reservation",))
def capacity_block_without_reservation(launch: Launch) -> Iterator[Finding]:
    """A node group or a launch template takes a Capacity Block and does not name one.

    Instances of market type `capacity-block` are launched into a reservation that is named (EC2 user guide, Capacity
    Blocks); without one EC2 refuses them.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - name: block
            instanceType: p5.48xlarge
            nodeRepairConfig: {enabled: true}
            instanceMarketOptions: {marketType: capacity-block}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - name: block
            instanceType: p5.48xlarge
            nodeRepairConfig: {enabled: true}
            instanceMarketOptions: {marketType: capacity-block}
            capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-0a1b2c3d4e5f60718}}
    """
    if launch.capacity_block and not launch.reservation and "reservation" not in launch.unread:
        yield Finding(
            f"{launch.words} uses Capacity Blocks and names none",
            launch.where("capacity_block"),
            key=True,
            help=f"add {_target(launch)}",
        )


def _target(launch: Launch) -> str:
    if isinstance(launch, LaunchTemplate):
        return f"`{spelled(launch, 'CapacityReservationSpecification')}` with the id of its reservation"
    return "`capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-…}}`"
