from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from compiler.diagnostics import Severity
from compiler.diagnostics.words import numbered
from compiler.platforms.eks.nodes.plan import BLOCK_ENDS, NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC045", severity=Severity.WARNING, params={"weeks": 34})
def capacity_block_not_on_sale(node_class: NodeClass, world: World) -> Iterator[Finding]:
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
    ends, weeks = node_class.annotations.get(BLOCK_ENDS, ""), world.param("weeks")
    try:
        last = date.fromisoformat(ends.partition("T")[0])
    except ValueError:
        return
    if world.today == date.min or last <= world.today + timedelta(weeks=weeks):
        return
    yield Finding(
        f"the Capacity Block of `{node_class.name}` ends on {last}, and no block is sold that ends in "
        f"{numbered(weeks, 'week')}",
        node_class.at / "metadata" / "annotations" / BLOCK_ENDS,
        label="no such block is there yet",
        help="write what `aws ec2 describe-capacity-reservations` shows as EndDate",
        spec_help="write `starts` and `ends` as `aws ec2 describe-capacity-reservations` shows them",
    )
