from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

_DAY = 24 * 3600


@rule("RUN150", gangs=True, severity=Severity.WARNING, params={"days": 120})
def timeout_beyond_any_run(work: Work, world: World) -> Iterator[Finding]:
    """A job has a deadline that ends no run: it is longer than the longest that are known.

    A deadline ends what hangs while its nodes are paid for. Llama 3 405B took 54 days on 16,384 GPUs
    (arXiv:2407.21783, section 3.3.4); a job of years is a number that was copied, or meant as none, which says so by
    no deadline. `days` is the longest that is taken for one.

    ## Fails

        jobs: [{name: llama, timeout: 87600h}]

        # params: {days: 3}
        jobs: [{name: llama, timeout: 73h}]

    ## Passes

        # params: {days: 30}
        jobs: [{name: llama, timeout: 720h}]

        jobs: [{name: llama, timeout: 72h}]
    """
    most, deadline = world.param("days"), work.deadline
    if deadline is None or deadline <= most * _DAY:
        return
    yield Finding(
        f"{work.title} may run for {deadline // _DAY:,} days before it is ended, and no run is known of {most}",
        work.where("deadline"),
        label="ends nothing that hangs",
        help="write as long as the job takes, and half as much again",
    )
