from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed


@rule("PLC012")
def spot_unsupported(pool: Pool, world: World) -> Iterator[Finding]:
    """Spot capacity is required of an instance type that is not offered as spot.

    EC2 does not offer every type as spot (DescribeInstanceTypes SupportedUsageClasses): a pool of spot alone never
    gets a node.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: hpc}
        spec: {template: {spec: {requirements: [
          {key: node.kubernetes.io/instance-type, operator: In, values: [hpc7a.96xlarge]},
          {key: topology.kubernetes.io/zone, operator: In, values: [us-east-2b]},
          {key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}

    ## Passes

        nodePools: [{name: gpu, capacity: {spot: {}}}]
        jobs: [{name: llama, nodes: 1}]
    """
    if pool.capacity_types == ("spot",):
        types = world.types(pool)
    else:
        types = ()
    offered = [
        instance for instance in types if instance.spot or "usage_classes" in instance.unknown
    ]
    if types and not offered:
        names = listed(instance.name for instance in types[:3])
        yield Finding(
            f"{names} is not offered as spot",
            pool.where("capacity_types"),
            help="take `on-demand`, or a reservation",
        )
