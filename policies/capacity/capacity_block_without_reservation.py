from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Manifest
from compiler.model.values import value
from compiler.places import Route
from compiler.policy.rule import Finding, rule


@rule("PLC028", aliases=("block-without-reservation",), kinds=("eksctl.io/ClusterConfig",))
def capacity_block_without_reservation(manifest: Manifest) -> Iterator[Finding]:
    """A node group takes a Capacity Block and does not name one.

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
    for field in ("managedNodeGroups", "nodeGroups"):
        groups = manifest.body.get(field)
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            market = value(group, "instanceMarketOptions", "marketType")
            target = value(group, "capacityReservation", "capacityReservationTarget")
            if market == "capacity-block" and not target:
                yield Finding(
                    f"node group `{value(group, 'name')}` uses Capacity Blocks and names none",
                    Route((manifest.id, field, index, "instanceMarketOptions")),
                    key=True,
                    help="add `capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-…}}`",
                )
