from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import forbids_disruption
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

_DEFAULT = "WhenEmptyOrUnderutilized"
"""karpenter.sh/v1 NodePool consolidationPolicy, where nothing is said."""


@rule("HLT012", aliases=("consolidation-of-training",), severity=Severity.WARNING)
def training_nodes_consolidated(pool: NodePool, world: World) -> Iterator[Finding]:
    """Karpenter consolidates nodes of a training pool that are in use.

    `WhenEmptyOrUnderutilized` and `Balanced` move pods to pack nodes (karpenter.sh/v1 NodePool `disruption`): a
    rank that is moved stops the whole job. A budget of no nodes for that reason keeps the nodes as well.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {disruption: {consolidationPolicy: WhenEmptyOrUnderutilized}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {disruption: {consolidationPolicy: WhenEmpty}}

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, budgets: [
          {nodes: "0", reasons: [Underutilized]}]}}
    """
    # A patch has what it changes alone, and of a pool that is always on nothing is consolidated.
    is_whole = bool(pool.requirements) and pool.replicas is None
    policy = pool.consolidation or (_DEFAULT if is_whole and not pool.auto else None)
    packs = policy in (_DEFAULT, "Balanced")
    if not packs or forbids_disruption(pool, "Underutilized"):
        return
    if world.accelerated(pool):
        yield Finding(
            f"pool `{pool.title}` consolidates nodes in use: `{policy}`",
            pool.where("consolidation"),
            help="write `consolidationPolicy: WhenEmpty`",
        )
