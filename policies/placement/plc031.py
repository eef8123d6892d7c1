from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from compiler.plan.nodes import NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC031")
def block_is_over(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """A pool waits for nodes of a Capacity Block that has ended.

    EC2 terminates the instances of a block from 30 minutes before its end, and launches none after it (EC2 user guide,
    Capacity Blocks). The end is the one that the spec says, or the annotation `trainyard.dev/capacity-block-ends`.

    ## Fails

        nodePools:
          - {name: gpu, capacity: {type: block, id: cr-0a1b2c3d4e5f60718, ends: "2026-11-20T11:30:00Z"}}

    ## Passes

        nodePools:
          - {name: gpu, capacity: {type: block, id: cr-0a1b2c3d4e5f60718, ends: "2026-11-21T11:30:00Z"}}
    """
    ends = node_class.annotations.get(_ENDS, "")
    try:
        day = date.fromisoformat(ends[:10])
    except ValueError:
        return
    if day < world.today:
        yield Finding(f"the Capacity Block of node class `{node_class.name}` ended on {day}",
                      node_class.at / "metadata" / "annotations" / _ENDS, label="no node is launched any more",
                      help="name the block that follows it, or other capacity")


_ENDS = "trainyard.dev/capacity-block-ends"
