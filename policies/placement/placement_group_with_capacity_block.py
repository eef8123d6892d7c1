from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("PLC006", aliases=("placement-group-with-block",))
def placement_group_with_capacity_block(pool: NodePool, world: World) -> Iterator[Finding]:
    """A placement group constrains nodes that come from a Capacity Block.

    EC2 places the instances of a block close together by itself, "no need to use a cluster placement group"; where
    the block was placed, the group may have no room, and then nothing that was paid for can be launched (EC2 user
    guide, Capacity Blocks; aws-parallelcluster 3.16 says that the constraint should not be set).

    ## Fails

        nodePools:
          - {name: gpu, placement: cluster, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}

    ## Passes

        nodePools:
          - {name: gpu, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}
    """
    group = world.placement_group(pool)
    if group is not None and world.block(pool):
        yield Finding(
            f"pool `{pool.title}` launches into a Capacity Block and into placement group `{group.name}`",
            group.at,
            label="a block is placed closely by itself",
            help="remove the placement group",
            spec_help="remove `placement`",
        )
