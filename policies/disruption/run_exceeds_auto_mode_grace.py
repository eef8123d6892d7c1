from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import seconds
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.units import Duration


@rule(
    "HLT045",
    kubernetes="only EKS Auto Mode ends nodes after 21 days",
    severity=Severity.WARNING,
    gangs=True,
)
def run_exceeds_auto_mode_grace(work: Work, world: World) -> Iterator[Finding]:
    """A job may run for longer than a node of EKS Auto Mode waits for it.

    A node of Auto Mode lives 21 days at most, its drain included (EKS user guide, auto-security). From `expireAfter`
    on it gets no more pods, and what runs on it is ended after `terminationGracePeriod`, 24h where none is set (EKS
    user guide, create-node-pool). A job that takes longer than that is cut wherever it starts late in the life of a
    node. It is judged by its `activeDeadlineSeconds`.

    ## Fails

        platform: {eks: {autoMode: {terminationGracePeriod: 2h}, ami: null}}
        jobs: [{name: llama, timeout: 4h}]

    ## Passes

        platform: {eks: {autoMode: {terminationGracePeriod: 6h}, ami: null}}
        jobs: [{name: llama, timeout: 4h}]
    """
    deadline = work.deadline
    if deadline is None:
        return
    for pool in work.pools:
        if not isinstance(pool, NodePool):
            continue
        grace = seconds(pool.termination_grace or "24h")
        if not pool.auto or grace is None or deadline <= grace or world.block(pool):
            continue
        yield Finding(
            f"job `{work.name}` may run for {Duration(deadline)}, and a node of pool `{pool.title}` that has reached "
            f"its age waits {Duration(grace)}",
            work.where("deadline"),
            help="let nodes wait longer (`platform.eks.autoMode`), or lower the deadline",
        )
        return
