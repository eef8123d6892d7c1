from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.health.plan import ProblemDetector
from trainyard.judge.policy.rule import Finding, rule


@rule("HLT007")
def permanent_rule_without_condition(detector: ProblemDetector) -> Iterator[Finding]:
    """A permanent rule of the node-problem-detector sets a condition that its monitor does not declare.

    Each permanent rule needs an entry of its type under `conditions`; without it the detector logs an error and
    sets nothing (node-problem-detector v1.36.0).

    ## Fails

        # a whole cluster
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: node-problem-detector, namespace: kube-system}
        data:
          gpu-xid.json: |
            {"plugin": "kmsg", "source": "gpu", "conditions": [],
             "rules": [{"type": "permanent", "condition": "GpuXidFatal", "reason": "Xid79",
                        "pattern": "NVRM: Xid [(]PCI:[^)]+[)]: 79,.*"}]}

    ## Passes

        health: {nodeProblemDetector: true}
    """
    for monitor in detector.monitors:
        for monitor_rule in monitor.rules:
            reason, condition = monitor_rule.reason, monitor_rule.condition
            if monitor_rule.permanent and condition not in monitor.sets():
                yield Finding(
                    f"rule `{reason}` of monitor `{monitor.name}` sets `{condition}`, which is not declared",
                    monitor.where("rules"),
                    label="the condition is never set",
                    help=f"add `{condition}` to `conditions` of the monitor",
                )
