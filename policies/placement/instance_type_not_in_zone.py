from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import InstanceType
from trainyard.core.pools.plan import Pool
from trainyard.judge.model.fit import not_offered
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed


@rule("PLC014", aliases=("type-not-in-zone",))
def instance_type_not_in_zone(pool: Pool, world: World) -> Iterator[Finding]:
    """The instance type is not offered in any zone of its pool.

    EC2 offers accelerated types in few zones (DescribeInstanceTypeOfferings): elsewhere a launch fails with
    "Unsupported", so the pool never gets a node. In Regions where names of zones differ by account (AWS Regions and
    Availability Zones, AZ IDs) they are taken to be those of the catalog: `trainyard catalog refresh --region REGION`
    asks EC2 in yours, and `--catalog` takes the file. Of specs, which name their account, RES008 reports it.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [
            {key: node.kubernetes.io/instance-type, operator: In, values: [p5e.48xlarge]},
            {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [
            {key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]},
            {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]}}
    """
    if world.plan.closed or not not_offered(pool, world):
        return  # of specs RES008 reports it, and knows the account
    zones = pool.zones or ()
    types = world.types(pool)
    region = zones[0][:-1]
    offered: set[str] = set()
    for instance in types:
        offered.update(instance.zones.get(region, ()))
    where = sorted(offered)
    yield Finding(
        f"`{types[0].name}` is not offered in {listed(zones)}",
        pool.where("zones"),
        help=_elsewhere(types[0], where),
    )


def _elsewhere(instance: InstanceType, where: list[str]) -> str:
    if not where:
        return f"it is offered in {', '.join(sorted(instance.zones))}"
    return f"it is offered in {listed(where)}"
