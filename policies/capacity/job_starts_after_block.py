from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.timeline.outlook import courses, known_pools
from trainyard.judge.model.capacity_windows import blocks_of, order_matters
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule(
    "PLC084",
    kubernetes="Kueue admits jobs in its order: Slurm plans with time limits",
    severity=Severity.WARNING,
)
def job_starts_after_block(work: Work, world: World) -> Iterator[Finding]:
    """A job waits for others until its Capacity Block is over, and never runs.

    Found by simulating all jobs over time, from the start of the first block on (docs/simulate.md): each runs as long
    as `expected` says, else as long as is computed from its `model`, else until its timeout. Nothing is said where
    a job of the block runs whose length is not known.

    ## Fails

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}]
        jobs:
          - {name: llama, nodes: 3, expected: 47h20m}
          - {name: second, nodes: 2, queue: research, pool: gpu, expected: 20h,
            image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]}

    ## Passes

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
          starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}]
        jobs:
          - {name: llama, nodes: 3, expected: 20h}
          - {name: second, nodes: 2, queue: research, pool: gpu, expected: 20h,
            image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]}
    """
    if not world.once(order_matters):
        return
    course = world.once(courses).get(work.key)
    if course is None or course.attempts or course.never_fits:
        return
    blocks = blocks_of(work, world)
    if not blocks or not world.once(known_pools).issuperset(block.name for block in blocks):
        return
    names = ", ".join(f"`{block.name}`" for block in blocks)
    yield Finding(
        f"job `{work.name}` does not run before the nodes of pool {names} go: others keep them until then",
        work.at,
        label="never runs",
        help="`trainyard simulate --timeline` shows who runs when: raise its priority, or say by `expected` how long "
        "the jobs before it run",
    )
