from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.health.plan import ProblemDetector
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.re2 import compile_re2, refusal


@rule("HLT006", aliases=("xid-of-a-program",))
def application_xid_marks_node_unhealthy(
    detector: ProblemDetector, world: World
) -> Iterator[Finding]:
    """The node-problem-detector marks a node unhealthy for an Xid that an application causes.

    Xids 13, 31, 43, 45, 68 and 109 come from the program on the GPU (NVIDIA Xid catalogue): a pattern like `NVRM:
    Xid.*` takes nodes away for every bug of a user. The patterns are tried on sample lines of the driver.

    ## Fails

        # a whole cluster
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: node-problem-detector, namespace: kube-system}
        data:
          gpu-xid.json: |
            {"plugin": "kmsg", "source": "gpu",
             "conditions": [{"type": "GpuXidFatal", "reason": "Healthy", "message": "no Xid"}],
             "rules": [{"type": "permanent", "condition": "GpuXidFatal", "reason": "Xid", "pattern": "NVRM: Xid.*"}]}

    ## Passes

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: node-problem-detector, namespace: kube-system}
        data:
          ntp.json: |
            {"plugin": "custom", "source": "ntp",
             "conditions": [{"type": "NTPProblem", "reason": "NTPIsUp", "message": "ntp is up"}],
             "rules": [{"type": "permanent", "condition": "NTPProblem", "reason": "NTPIsDown", "path": "./ntp.sh"}]}

        health: {nodeProblemDetector: true}
    """
    for monitor in detector.monitors:
        for monitor_rule in monitor.rules:
            if not monitor_rule.permanent or not monitor_rule.pattern:
                continue  # a custom plugin has a script and no pattern
            if refusal(monitor_rule.pattern):
                continue
            pattern = compile_re2(monitor_rule.pattern)
            codes = [
                code
                for code in world.catalog.xids.application
                if pattern.search(_SAMPLE.format(code))
            ]
            if codes:
                xids = ", ".join(map(str, codes))
                fatal = ", ".join(map(str, world.catalog.xids.fatal()))
                yield Finding(
                    f"rule `{monitor_rule.reason}` of monitor `{monitor.name}` matches Xid {xids}",
                    monitor.where("rules"),
                    label="a faulty program makes the node unhealthy",
                    help=f"name the fatal Xids only: {fatal}",
                )


# NVRM's line in the kernel log, driver 580.
_SAMPLE = "NVRM: Xid (PCI:0000:3b:00): {}, pid=12345, name=python, Ch 00000008"
