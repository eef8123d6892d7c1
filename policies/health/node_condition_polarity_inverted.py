from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.health.plan import AGENT_CONDITIONS, ProblemDetector
from trainyard.judge.policy.rule import Finding, rule


@rule("HLT001", aliases=("condition-of-other-polarity",))
def node_condition_polarity_inverted(detector: ProblemDetector) -> Iterator[Finding]:
    """The node-problem-detector sets a condition of the node monitoring agent with the opposite meaning.

    The detector starts each condition at `False`, meaning healthy; for the agent's five
    (`AcceleratedHardwareReady`…) `False` means unhealthy, and Karpenter deletes such a node after 10 to 30 minutes
    (node-problem-detector v1.36.0; karpenter-provider-aws v1.14.1 RepairPolicies): healthy nodes are deleted.

    ## Fails

        # a whole cluster
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: node-problem-detector, namespace: kube-system}
        data:
          gpu-xid.json: |
            {"plugin": "kmsg", "source": "gpu",
             "conditions": [{"type": "AcceleratedHardwareReady", "reason": "Healthy", "message": "no Xid"}],
             "rules": [{"type": "permanent", "condition": "AcceleratedHardwareReady", "reason": "Xid",
                        "pattern": "NVRM: Xid [(]PCI:[^)]+[)]: 79,.*"}]}

    ## Passes

        health: {nodeProblemDetector: true}
    """
    for monitor in detector.monitors:
        for name in monitor.sets():
            inverted = monitor.plugin == "custom" and monitor.skip_initial_status
            if name in AGENT_CONDITIONS and not inverted:
                yield Finding(
                    f"monitor `{monitor.name}` sets `{name}`, where `False` means unhealthy",
                    monitor.where("conditions"),
                    label="healthy nodes look broken and are deleted",
                    help="take a name of your own, like `GpuXidFatal`, and something that acts on it",
                )
