from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.judge.model.offers import place
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import ZONE


@rule("PLC002")
def zone_not_in_region(pool: Pool, world: World) -> Iterator[Finding]:
    """A node pool names a zone that does not exist, or one of another Region than its other zones.

    A cluster lies in one Region, and its subnets in that Region's zones; a zone elsewhere has no subnet, and
    Karpenter never launches a node there (catalog: EC2 DescribeAvailabilityZones). In some Regions each account has
    names of its own: of these one that may be there is a warning.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2z]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]}}
    """
    if world.plan.closed:
        return  # RES004 reports it, and knows the account
    zones = pool.zones or ()
    regions = [zone[:-1] for zone in zones]
    known_regions = [name for name in regions if name in world.catalog.regions]
    home = world.region
    if not home and known_regions:
        home = known_regions[0]
    for zone in zones:
        region = zone[:-1]
        known = world.catalog.regions.get(region)
        if home is not None and known and region != home:
            who = "the cluster" if world.region else "its other zones"
            yield Finding(
                f"pool `{pool.title}` is in zone `{zone}`, {who} in region `{home}`",
                place(pool, ZONE, zone),
                help=f"write a zone of {home}",
            )
        elif known and zone not in known:
            yield Finding(
                f"region `{region}` has no zone `{zone}`",
                place(pool, ZONE, zone),
                help=f"it has {listed(known)}",
                severity=Severity.WARNING if world.catalog.may_be_zone(zone) else None,
            )
