from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from trainyard.judge.model.capacity_windows import block_ends
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.plan import Plan


@rule("PLC045", severity=Severity.WARNING, params={"weeks": 34})
def capacity_block_not_on_sale(plan: Plan, world: World) -> Iterator[Finding]:
    """The Capacity Block of a pool ends later than any block that is sold today.

    EC2 sells blocks that begin in the next eight weeks and last 26 at most (EC2 user guide, ec2-capacity-blocks): one
    of years to come has no `cr-` id yet, so that the year or the month is likely a slip. `weeks` is how far ahead a
    block may end. By the date of the machine that compiles.

    ## Fails

        nodePools: [{name: gpu, nodes: 5, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2036-12-01T11:30:00Z", ends: "2036-12-08T11:30:00Z"}}}]

        # params: {weeks: 1}
        nodePools: [{name: gpu, nodes: 5, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          ends: "2026-12-22T11:30:00Z"}}}]

    ## Passes

        nodePools: [{name: gpu, nodes: 5, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          ends: "2026-12-15T11:30:00Z"}}}]

        # params: {weeks: 600}
        nodePools: [{name: gpu, nodes: 5, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          ends: "2036-12-08T11:30:00Z"}}}]
    """
    weeks = world.param("weeks")
    if world.today == date.min:
        return
    for block in block_ends(plan):
        if block.day <= world.today + timedelta(weeks=weeks):
            continue
        yield Finding(
            f"the Capacity Block of `{block.name}` ends on {block.day}, and no block is sold that ends in "
            f"{numbered(weeks, 'week')}",
            block.at,
            label="no such block is there yet",
            help="write what `aws ec2 describe-capacity-reservations` shows as EndDate",
            spec_help="write `starts` and `ends` as `aws ec2 describe-capacity-reservations` shows them",
        )
