from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.health.plan import AGENT_CONDITIONS, ConditionTainter, ProblemDetector
from trainyard.judge.policy.rule import Finding, rule
from trainyard.plan import Plan


@rule("HLT002", aliases=("condition-without-consumer",))
def node_condition_without_consumer(plan: Plan) -> Iterator[Finding]:
    """A node condition is set, and nothing acts on it.

    Karpenter repairs only `Ready` and the five conditions of the node monitoring agent (karpenter-provider-aws
    v1.14.1, RepairPolicies); the detector's own conditions repair nothing and keep no pod away.

    ## Fails

        # a whole cluster
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: node-condition-tainter, namespace: kube-system}
        $patch: delete

    ## Passes

        health: {nodeProblemDetector: true}
    """
    if not plan.closed:
        return
    tainted = {name for tainter in plan.of(ConditionTainter) for name in tainter.conditions}
    consumed = tainted | set(AGENT_CONDITIONS)
    for detector in plan.of(ProblemDetector):
        for monitor in detector.monitors:
            for name in monitor.sets():
                if name not in consumed:
                    yield Finding(
                        f"node condition `{name}` of monitor `{monitor.name}` has nothing that acts on it",
                        monitor.where("conditions"),
                        label="the node stays in use",
                        help="taint nodes on this condition, or make it an event (`temporary`)",
                    )
