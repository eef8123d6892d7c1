from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import NodePool
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC014")
def type_not_in_zone(pool: NodePool, world: World) -> Iterator[Finding]:
    """The instance type is not offered in any zone of its pool.

    EC2 offers accelerated types in few zones (DescribeInstanceTypeOfferings): elsewhere a launch fails with
    "Unsupported", so the pool never gets a node.

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
    zones, types = pool.zones, world.types(pool)
    if not zones or not types or any(zone not in world.catalog.regions.get(zone[:-1], ()) for zone in zones):
        return
    offered = [set(each.zones.get(zones[0][:-1], ())) for each in types]
    if all(each.zones for each in types) and not any(found & set(zones) for found in offered):
        where = sorted(set().union(*offered))
        yield Finding(
            f"`{types[0].name}` is not offered in {', '.join(f'`{zone}`' for zone in zones)}", pool.where("zones"),
            help=f"it is offered in {', '.join(f'`{zone}`' for zone in where)}" if where else (
                f"it is offered in {', '.join(sorted(types[0].zones))}"),
        )
