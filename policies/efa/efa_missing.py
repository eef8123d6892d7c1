from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import EFA
from trainyard.core.pools.plan import NodeShare
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route


@rule("EFA001", pods=True)
def efa_missing(work: Work, world: World) -> Iterator[Finding]:
    """A job of several nodes asks for no EFA on nodes that have it.

    A pod sees EFA devices only if it asks for `vpc.amazonaws.com/efa`, and Karpenter attaches them only then (EFA
    device plugin v0.5.30; karpenter-provider-aws v1.14.1): the ranks fall back to TCP, many times slower, or NCCL's
    EFA plugin aborts the job. A request of 0 says that it is meant, and is a warning.

    ## Fails

        jobs: [{name: llama, resources: {efa: 0}}]

    ## Passes

        jobs: [{name: llama, resources: {efa: 4}}]

        jobs: [{name: llama, nodes: 1}]

        jobs: [{name: llama, kind: JobSet, nodes: 1, roles: [{name: rollout, command: [python, r.py]}]}]
    """
    known = work.gang and work.complete and work.trainer
    if not known or work.efa or not work.types:
        return
    most = min(world.efa_of(*offer) for offer in work.offers)
    accelerated = all(instance.accelerators for instance in work.types)
    if most and accelerated and not _opted_out(work, world):
        at = work.where("limits")
        if work.accelerator:
            at = work.place(work.accelerator[0])
            if world.plan.closed:  # a spec has a key for it
                at = Route(at[:-1]) / EFA
        yield Finding(
            f"{work.title} has {work.largest} nodes of `{work.types[0].name}` and asks for no EFA",
            at,
            label="the nodes talk over TCP",
            help=f'ask for `{EFA}: "{most}"`, all that a node has',
            spec_help=f"write `resources: {{efa: {most}}}`, all of a node, or remove `efa` to have it derived",
            severity=Severity.WARNING if EFA in work.asks else None,
        )


def _opted_out(work: Work, world: World) -> bool:
    """Whether a spec has said that jobs of these pools get no EFA, or has been told so (RES392)."""
    shares = [world.plan.named(NodeShare, pool.title) for pool in work.pools]
    return all(share is not None and EFA not in share.resources for share in shares)
