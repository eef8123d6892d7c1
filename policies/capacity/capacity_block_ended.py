from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.capacity_windows import block_ends
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("PLC037", aliases=("block-over",), severity=Severity.WARNING)
def capacity_block_ended(plan: Plan, world: World) -> Iterator[Finding]:
    """The Capacity Block of a pool has ended.

    EC2 takes the instances of a block 30 minutes before its end, and gives none after it (EC2 user guide,
    capacity-blocks-monitor): the pool has no nodes, and its jobs wait for ever. Reported from the day after the end on,
    by the date of the machine that compiles.

    ## Fails

        nodePools: [{name: gpu, nodes: 5,
          capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}], ends: "2026-11-20T11:30:00Z"}}}]

    ## Passes

        nodePools: [{name: gpu, nodes: 5,
          capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}], ends: "2026-12-15T11:30:00Z"}}}]
    """
    for block in block_ends(plan):
        if block.day < world.today:
            yield Finding(
                f"the Capacity Block of `{block.name}` ended on {block.day}",
                block.at,
                label="no node is launched any more",
                help="select the block that replaces it, or remove the pool",
                spec_help="write `reservations`, `starts` and `ends` of the block that replaces it, or remove the pool",
            )
