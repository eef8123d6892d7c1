from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import CapacityWindow
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.units import Duration


@rule("PLC082")
def job_outlasts_block(work: Work, world: World) -> Iterator[Finding]:
    """A job is expected to run longer than its Capacity Block has nodes.

    The nodes of a block go before its end: Karpenter drains them 40 minutes before it (karpenter-provider-aws v1.14.1,
    capacityreservation/expiration), by itself EC2 begins to end them 30 minutes before it (EC2 user guide, Capacity
    Blocks). Even a job that starts with its block and waits for nobody does not end. It is an error where the job has
    nowhere to save, since all of its work is lost, and a warning where it may go on elsewhere. The length is
    `expected`, or else the least that is computed from its `model`; a timeout that is too long is RES045.

    ## Fails

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}]
        jobs: [{name: llama, nodes: 2}, {name: long, queue: research, pool: gpu, nodes: 2, expected: 48h,
          image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]}]

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}]
        jobs: [{name: llama, nodes: 2, expected: 60h}]

    ## Passes

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}]
        jobs: [{name: llama, nodes: 2}, {name: long, queue: research, pool: gpu, nodes: 2, expected: 47h,
          image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]}]
    """
    if not world.plan.of(CapacityWindow):
        return
    from trainyard.judge.model.capacity_windows import blocks_of
    from trainyard.judge.model.lengths import lengths
    from trainyard.judge.model.saves import has_place_to_save

    known = world.once(lengths)[work.namespace, work.name]
    least = known.least
    blocks = blocks_of(work, world)
    if least is None or not blocks:
        return
    longest = max(blocks, key=lambda block: block.length or 0)
    length = longest.length or 0
    if least <= length:
        return
    saves = not work.folders or has_place_to_save(work)
    yield Finding(
        f"job `{work.name}` runs {Duration(least)}, and the block of pool `{longest.name}` has nodes for "
        f"{Duration(length)}",
        known.at or work.at,
        label="goes on only in another block" if saves else "all of its work is lost",
        help="save, and go on in another block; or take more nodes, or a longer block",
        severity=Severity.WARNING if saves else Severity.ERROR,
    )
