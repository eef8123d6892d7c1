from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.policy.rule import Finding, rule


@rule("PLC021")
def node_group_across_zones(group: NodeGroup) -> Iterator[Finding]:
    """A managed node group with EFA or in a Capacity Block spans several zones.

    EFA does not leave a zone, and a block lies in one (EC2 user guide, EFA limitations and Capacity Blocks); eksctl
    puts the group into every zone that it names (eksctl 0.230 `efaEnabled`, `instanceMarketOptions`).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: efa, instanceType: p4d.24xlarge, efaEnabled: true, availabilityZones: [us-west-2a, us-west-2b],
             nodeRepairConfig: {enabled: true}}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: efa, instanceType: p4d.24xlarge, efaEnabled: true, availabilityZones: [us-west-2b],
             nodeRepairConfig: {enabled: true}}
    """
    zones = len(group.zones)
    if zones > 1 and (group.efa or group.capacity_block):
        why = "has EFA" if group.efa else "is in a Capacity Block"
        yield Finding(
            f"node group `{group.title}` {why} and spans {zones} Availability Zones",
            group.where("zones"),
            help="keep one zone",
        )
