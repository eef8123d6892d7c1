from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.fit import exceeds_pool, pool_room
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("LIM035", severity=Severity.WARNING)
def elastic_job_exceeds_pool(work: Work, world: World) -> Iterator[Finding]:
    """A job that may start with fewer nodes asks for more than its pool can ever have.

    Kueue admits what the quota has room for, from the least to the most (kueue v0.19.2, job-min-parallelism). The upper
    bound is then one that no run reaches, and says less of the job than the pool does.

    ## Fails

        jobs: [{name: llama, kind: Job, nodes: 16, minNodes: 2, command: [python, shard.py]}]

    ## Passes

        jobs: [{name: llama, kind: Job, nodes: 4, minNodes: 2, command: [python, shard.py]}]
    """
    asked = work.most_nodes
    if asked is None:
        return
    most = pool_room(work, world)
    if most is None:
        return
    if asked > most and not exceeds_pool(work, world):
        yield Finding(
            f"job `{work.name}` may have {asked} nodes at once, and its pools have room for {most}",
            work.where("nodes"),
            help=f"write `nodes: {most}`, or raise `nodes` of the pool",
        )
