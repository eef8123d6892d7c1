from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan import Plan


@rule("PLC011", aliases=("block-unsupported",))
def capacity_block_unsupported(plan: Plan, world: World) -> Iterator[Finding]:
    """A Capacity Block is used for an instance type that is not sold in Capacity Blocks.

    EC2 sells blocks for some types only (DescribeInstanceTypes SupportedUsageClasses `capacity-block`): a
    reservation of this type cannot be a block, so a pool that asks for one never gets a node.

    ## Fails

        nodePools:
          - name: gpu
            instanceTypes: [g6e.48xlarge]
            capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}

    ## Passes

        nodePools: [{name: gpu, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
    """
    for pool in world.pools:
        if not world.block(pool):
            continue
        types = world.types(pool)
        sold = any(each.capacity_block or "usage_classes" in each.unknown for each in types)
        if types and not sold:
            names = listed(instance.name for instance in types[:3])
            yield Finding(
                f"{names} is not sold in Capacity Blocks",
                pool.where("capacity_types"),
                help="take an on-demand reservation (`reserved`), or a type like `p5.48xlarge`",
                spec_help="write `capacity: {reserved: {reservations: [...]}}`, or a type like `p5.48xlarge`",
            )
