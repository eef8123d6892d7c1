from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.health.plan import ProblemDetector
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.re2 import refusal


@rule("HLT008", aliases=("pattern-of-other-dialect",))
def pattern_not_re2(detector: ProblemDetector) -> Iterator[Finding]:
    """A pattern of the node-problem-detector is not a regular expression that Go accepts.

    The detector compiles patterns with Go's `regexp` (RE2): no look-around, no back-references. It stops at a
    pattern that does not compile (node-problem-detector v1.36.0), and then nothing is watched.

    ## Fails

        # a whole cluster
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: node-problem-detector, namespace: kube-system}
        data:
          gpu-xid.json: |
            {"plugin": "kmsg", "source": "gpu", "conditions": [],
             "rules": [{"type": "temporary", "reason": "Xid", "pattern": "NVRM: Xid (?!13)"}]}

    ## Passes

        health: {nodeProblemDetector: true}
    """
    for monitor in detector.monitors:
        for monitor_rule in monitor.rules:
            why = refusal(monitor_rule.pattern)
            if why:
                yield Finding(
                    f"pattern of rule `{monitor_rule.reason}` does not compile in Go: {why}",
                    monitor.where("rules"),
                    label="the detector stops",
                    help="write it as Go reads it (`go doc regexp/syntax`)",
                )
