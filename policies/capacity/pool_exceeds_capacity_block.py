from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("PLC016", aliases=("block-too-small",), severity=Severity.WARNING, params={"instances": 64})
def pool_exceeds_capacity_block(plan: Plan, world: World) -> Iterator[Finding]:
    """A pool is larger than its Capacity Blocks can be.

    A Capacity Block has at most 64 instances (EC2 user guide, capacity-blocks-purchase): a larger pool needs several,
    or its last nodes are never launched. `instances` is how many a block may have.

    ## Fails

        nodePools: [{name: gpu, nodes: {max: 80}, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
        queues: [{name: research, quota: [{pool: gpu, nodes: 80}]}]

        # params: {instances: 16}
        nodePools: [{name: gpu, nodes: {max: 17}, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
        queues: [{name: research, quota: [{pool: gpu, nodes: 17}]}]

    ## Passes

        nodePools:
          - name: gpu
            nodes: {max: 80}
            capacity: {block: {reservations: [
              {id: cr-0a1b2c3d4e5f60718, nodes: 64}, {id: cr-0a1b2c3d4e5f60719, nodes: 16}]}}

        # params: {instances: 80}
        nodePools: [{name: gpu, nodes: {max: 80}, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
    """
    for pool in world.pools:
        types = world.types(pool)
        ids, at = world.reservations(pool)
        if not types or not ids or not all(ids) or not world.block(pool):
            continue
        nodes = max(world.most_nodes(pool, instance) or 0 for instance in types)
        most = world.param("instances") * len(ids)
        if nodes <= most:
            continue
        blocks = "a Capacity Block has"
        if len(ids) > 1:
            blocks = f"{len(ids)} Capacity Blocks have"
        yield Finding(
            f"pool `{pool.title}` may have {nodes} nodes, and {blocks} at most {most}",
            at,
            help="select further blocks, or lower the number of nodes",
            spec_help="list further blocks under `reservations`, or lower `nodes`",
        )
