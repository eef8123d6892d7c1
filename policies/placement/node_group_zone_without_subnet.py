from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.network.plan import Network
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.output.manifest import placeholder


@rule("PLC030", aliases=("node-group-zone-elsewhere",))
def node_group_zone_without_subnet(cluster: Cluster, world: World) -> Iterator[Finding]:
    """A node group is in a zone where its cluster has no subnet, or the cluster in one that its Region does not have.

    A group is launched into the subnets of its zones; eksctl 0.230 makes subnets in `availabilityZones` or imports
    those of `vpc.subnets`, and refuses a group for which none is left. All lie in the Region of the cluster (catalog:
    EC2 DescribeAvailabilityZones). In some Regions each account has names of its own: of these one that may be there is
    a warning.

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
    network = cluster.network
    zones = network.zones or ()
    if network.subnets:
        zones = tuple(subnet.zone for subnet in network.subnets)
    if not world.plan.closed:  # of a spec RES004 says it, which knows the account
        found = _outside(cluster, world)
        if found is not None:
            yield found
            return
    known = zones
    if not zones or any(map(placeholder, zones)):
        known = world.catalog.regions.get(cluster.region, ())
    for group in cluster.node_groups if known else ():
        missing = [zone for zone in group.zones if zone not in known]
        wrong = [zone for zone in missing if not placeholder(zone)]
        if wrong:
            yield Finding(
                f"node group `{group.title}` is in `{wrong[0]}`, where cluster `{cluster.name}` has no subnet",
                group.where("zones"),
                help=f"write one of {listed(known)}",
            )


def _outside(cluster: Cluster, world: World) -> Finding | None:
    """The first zone of a cluster that its Region does not have."""
    regions = world.catalog.regions
    region = regions.get(cluster.region, ())
    for zone, at in _zones(cluster.network):
        home = zone[:-1]
        if not region or zone in region or home not in regions:
            continue
        unsure = home == cluster.region and world.catalog.may_be_zone(zone)
        return Finding(
            f"cluster `{cluster.name}` is in region `{cluster.region}`, which has no zone `{zone}`",
            at,
            help=f"write one of {listed(region)}",
            severity=Severity.WARNING if unsure else None,
        )
    return None


def _zones(network: Network) -> Iterator[tuple[str, Route]]:
    yield from ((zone, network.where("zones") / index) for index, zone in enumerate(network.zones))
    yield from ((subnet.zone, subnet.at / "az") for subnet in network.subnets)
