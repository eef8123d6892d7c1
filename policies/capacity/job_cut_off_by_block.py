from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.timeline.course import Ending
from trainyard.extensions.forecast.timeline.outlook import courses, known_pools
from trainyard.judge.model.capacity_windows import blocks_of, order_matters
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.units import Duration


@rule(
    "PLC083",
    kubernetes="Kueue admits jobs in its order: Slurm plans with time limits",
    severity=Severity.WARNING,
)
def job_cut_off_by_block(work: Work, world: World) -> Iterator[Finding]:
    """A job waits for others, and then starts too late to end before its Capacity Block does.

    Found by simulating all jobs over time, from the start of the first block on (docs/simulate.md): each runs as long
    as `expected` says, else as long as is computed from its `model`, else until its timeout. Alone it would end in
    time; one that would not is PLC082.

    ## Fails

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}]
        jobs:
          - {name: llama, nodes: 3, expected: 30h}
          - {name: second, nodes: 2, queue: research, pool: gpu, expected: 20h, image: "public.ecr.aws/team/train:1.0",
            command: [torchrun, train.py]}

    ## Passes

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}]
        jobs:
          - {name: llama, nodes: 3, expected: 20h}
          - {name: second, nodes: 2, queue: research, pool: gpu, expected: 20h, image: "public.ecr.aws/team/train:1.0",
            command: [torchrun, train.py]}
    """
    if not world.once(order_matters):
        return
    course = world.once(courses).get(work.key)
    blocks = blocks_of(work, world)
    if course is None or not blocks or not course.attempts or course.is_done:
        return
    last = course.attempts[-1]
    seconds = course.length.seconds
    longest = max(block.length or 0 for block in blocks)
    if last.ending is not Ending.CLOSED or not last.after:
        return
    if last.by not in world.once(known_pools):
        return
    if seconds is None or seconds > longest:
        return
    after = listed(list(last.after))
    left = Duration((last.end or 0) - last.start)
    yield Finding(
        f"job `{work.name}` starts after {after}, {left} before the nodes of pool `{last.by}` go, and runs "
        f"{Duration(seconds)}",
        work.at,
        label="is cut off",
        help="`trainyard simulate --timeline` shows who runs when: let it run earlier, or on fewer nodes beside others",
    )
