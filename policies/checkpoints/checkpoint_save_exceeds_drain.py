from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import seconds
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.units import Duration


@rule(
    "RUN032",
    gangs=True,
    roles=True,
    kubernetes="it is Karpenter that drains a node before its pods have ended",
    aliases=("saving-over-drain",),
    severity=Severity.WARNING,
)
def checkpoint_save_exceeds_drain(work: Work, world: World) -> Iterator[Finding]:
    """The grace period of a job is longer than the drain of its pool's nodes.

    `terminationGracePeriod` of a NodePool bounds the drain: Karpenter deletes a pod so that its own grace period ends
    with it, and one that is longer is cut (karpenter v1.14.1, terminator). In a pool of Capacity Blocks it is at most 8
    minutes, before EC2 takes the instances.

    ## Fails

        nodePools: [{name: gpu, nodes: 5, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
        jobs: [{name: llama, terminationGracePeriod: 10m, torchVersion: "2.12"}]

    ## Passes

        nodePools: [{name: gpu, nodes: 5, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
        jobs: [{name: llama, terminationGracePeriod: 8m, torchVersion: "2.12"}]
    """
    if work.pod is not None:
        grace = work.pod.grace_seconds
    else:
        grace = None
    if grace is None or work.pod is None:
        return
    drains = [
        (seconds(pool.termination_grace), pool.title)
        for pool in work.pools
        if isinstance(pool, NodePool)
    ]
    known = [(drain, name) for drain, name in drains if drain is not None]
    if not known:
        return
    drain, name = min(known, key=itemgetter(0))
    if drain < grace:
        yield Finding(
            f"{work.title} has {Duration(grace)} to save, and nodes of pool `{name}` drain in "
            f"{Duration(drain)}",
            work.pod.where("grace_seconds"),
            label="the rest is cut",
            help=f"write at most {Duration(drain)}",
            spec_help=f"write `terminationGracePeriod: {Duration(drain)}` at most, or remove it",
        )
