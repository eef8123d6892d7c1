from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("HLT014", aliases=("drain-with-deadline",), severity=Severity.WARNING)
def termination_grace_period_on_training_pool(pool: NodePool, world: World) -> Iterator[Finding]:
    """A training pool has a deadline for drains.

    With `terminationGracePeriod` Karpenter may evict pods that say `do-not-disrupt`, and kills them at the deadline
    (karpenter.sh/v1 NodePool): drift then ends running jobs. Nodes of Capacity Blocks want one: their end is known,
    and without a deadline the pods get no signal before EC2 takes the node. Nodes of EKS Auto Mode always have one.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {template: {spec: {terminationGracePeriod: 1h}}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {template: {spec: {expireAfter: Never}}}

        nodePools:
          - name: gpu
            instanceTypes: [p5.48xlarge]
            nodes: 4
            capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}], ends: "2026-12-01T11:30:00Z"}}
    """
    if (
        pool.termination_grace is not None
        and not pool.auto
        and world.accelerated(pool)
        and not world.block(pool)
    ):
        yield Finding(
            f"drains of pool `{pool.title}` kill what runs after {pool.termination_grace}",
            pool.where("termination_grace"),
            help="remove `terminationGracePeriod`",
        )
