from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.manifest import placeholder
from compiler.plan.cluster import Cluster
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC030")
def node_group_zone_elsewhere(cluster: Cluster, world: World) -> Iterator[Finding]:
    """A node group is in a zone where its cluster has no subnet.

    A group is launched into the subnets of its zones; eksctl 0.230 makes subnets in `availabilityZones` or imports
    those of `vpc.subnets`, and refuses a group for which none is left.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        availabilityZones: [us-west-2a, us-west-2b]
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, availabilityZones: [us-west-2c]}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        availabilityZones: [us-west-2a, us-west-2b]
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, availabilityZones: [us-west-2b]}]
    """
    region = world.catalog.regions.get(cluster.region, ())
    network = cluster.network
    has = network.zones or () if not network.subnets else tuple(each.zone for each in network.subnets)
    known = has if has and all(each in region for each in has) else region
    for group in cluster.node_groups:
        wrong = [zone for zone in group.zones if known and zone not in known and not placeholder(zone)]
        if wrong:
            yield Finding(f"node group `{group.name}` is in `{wrong[0]}`, where cluster `{cluster.name}` has no subnet",
                          group.where("zones"), help=f"write one of {listed(known)}")
