from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.simulate.forecasts import outlook
from trainyard.judge.model.contention import contended
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed


@rule(
    "QUE034",
    kubernetes="Kueue admits jobs: Slurm stops each at its time limit",
    severity=Severity.WARNING,
)
def job_starves(work: Work, world: World) -> Iterator[Finding]:
    """A job of low priority waits for jobs of higher priority that nothing ends.

    If all jobs are submitted at once it is not admitted beside them (kueue v0.19.2, simulated: docs/simulate.md).
    None of them has a deadline, and whenever it is started first they stop it: nobody can say when it runs.

    ## Fails

        priorities: [{name: urgent, value: 1000}]
        jobs:
          - {name: llama, priority: urgent}
          - {name: small, queue: research, pool: gpu, nodes: 1, image: "public.ecr.aws/team/train:1.0",
            command: [torchrun, train.py], env: {SAVE_TO: "s3://example-results/small"}}

    ## Passes

        priorities: [{name: urgent, value: 1000}]
        jobs:
          - {name: llama, priority: urgent, timeout: 72h}
          - {name: small, queue: research, pool: gpu, nodes: 1, image: "public.ecr.aws/team/train:1.0",
            command: [torchrun, train.py], env: {SAVE_TO: "s3://example-results/small"}}
    """
    if not world.plan.closed or not world.once(contended):
        return  # of others' files nobody knows what else is there
    waiting = world.once(outlook).get(work.key)
    if waiting is None or not waiting.behind or not waiting.outranked:
        return
    if any(other.deadline is not None for other in waiting.behind):
        return
    names = listed([other.name for other in waiting.behind])
    yield Finding(
        f"job `{work.name}` waits for {names}, of higher priority, and nothing ends what it waits for",
        work.where("priority"),
        label="it may wait for ever",
        help="give the jobs before it a deadline, or the queue a larger quota",
        spec_help="write `timeout` of the jobs before it, or raise `nodes` of `quota`",
    )
