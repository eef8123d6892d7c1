from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.plan.nodes import NodePool
from compiler.policy.fit import not_offered
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
    if not_offered(pool, world):
        zones, types = pool.zones or (), world.types(pool)
        where = sorted({zone for each in types for zone in each.zones.get(zones[0][:-1], ())})
        yield Finding(
            f"`{types[0].name}` is not offered in {listed(zones)}", pool.where("zones"),
            help=f"it is offered in {listed(where)}" if where else (
                f"it is offered in {', '.join(sorted(types[0].zones))}"),
        )
