from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import forbids_disruption
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("HLT044", severity=Severity.WARNING)
def auto_mode_drift_ends_runs(pool: NodePool, world: World) -> Iterator[Finding]:
    """A training pool of EKS Auto Mode replaces nodes while jobs run on them.

    EKS releases an image about each week, by which every older node has drifted (EKS user guide, create-node-pool).
    A node with a `terminationGracePeriod`, which Auto Mode gives to all, is then replaced even where pods say
    `karpenter.sh/do-not-disrupt` (karpenter v1.14.1, disruption/types.go, NewCandidate): a job on it is ended when
    that time is over. A budget of no nodes for `Drifted` keeps them; they get the image when they are replaced
    for another reason.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          disruption: {budgets: [{nodes: "1"}]}
          template:
            spec:
              expireAfter: 336h
              nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          disruption: {budgets: [{nodes: "0", reasons: [Drifted]}]}
          template:
            spec:
              expireAfter: 336h
              nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
    """
    if not pool.auto or not world.accelerated(pool):
        return
    if not forbids_disruption(pool, "Drifted"):
        yield Finding(
            f"drifted nodes of pool `{pool.title}` are replaced while jobs run on them",
            pool.where("budgets"),
            help='add the budget `{nodes: "0", reasons: [Drifted]}`',
        )
