from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.manifest import placeholder
from compiler.places import Route
from compiler.platforms.eks.cluster.plan import Cluster
from compiler.platforms.eks.network.plan import Network
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC030", aliases=("node-group-zone-elsewhere",))
def node_group_zone_without_subnet(cluster: Cluster, world: World) -> Iterator[Finding]:
    """A node group is in a zone where its cluster has no subnet, or the cluster in one that its Region does not have.

    A group is launched into the subnets of its zones; eksctl 0.230 makes subnets in `availabilityZones` or imports
    those of `vpc.subnets`, and refuses a group for which none is left. All lie in the Region of the cluster (catalog:
    EC2 DescribeAvailabilityZones).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        availabilityZones: [us-west-2a, us-west-2b]
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, availabilityZones: [us-west-2c]}]

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        vpc: {id: vpc-0a1b2c3d4e5f60718, subnets: {private: {one: {id: subnet-0a1b2c3d4e5f60718, az: us-east-1a}}}}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        availabilityZones: [us-west-2a, us-west-2b]
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge, availabilityZones: [us-west-2b]}]
    """
    regions = world.catalog.regions
    region = regions.get(cluster.region, ())
    network = cluster.network
    zones = network.zones or ()
    if network.subnets:
        zones = tuple(subnet.zone for subnet in network.subnets)
    for zone, at in _zones(network):
        if not region or zone in region:
            continue
        if zone[:-1] in regions:
            yield Finding(
                f"cluster `{cluster.name}` is in region `{cluster.region}`, which has no zone `{zone}`",
                at,
                help=f"write one of {listed(region)}",
            )
            return
    known = region
    if zones and set(zones) <= set(region):
        known = zones
    for group in cluster.node_groups if known else ():
        missing = [zone for zone in group.zones if zone not in known]
        wrong = [zone for zone in missing if not placeholder(zone)]
        if wrong:
            yield Finding(
                f"node group `{group.title}` is in `{wrong[0]}`, where cluster `{cluster.name}` has no subnet",
                group.where("zones"),
                help=f"write one of {listed(known)}",
            )


def _zones(network: Network) -> Iterator[tuple[str, Route]]:
    yield from ((zone, network.where("zones") / index) for index, zone in enumerate(network.zones))
    yield from ((subnet.zone, subnet.at / "az") for subnet in network.subnets)
