from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.health import ProblemDetector
from compiler.policy.patterns import compiled
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("HLT006", aliases=("xid-of-a-program",))
def application_xid_marks_node_unhealthy(
    detector: ProblemDetector, world: World
) -> Iterator[Finding]:
    """A rule calls a node sick for an Xid that a faulty program causes.

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

        health: {problemDetector: true}
    """
    for monitor in detector.monitors:
        for each in monitor.rules:
            pattern = compiled(each.pattern) if each.permanent else ""
            if isinstance(pattern, str):
                continue
            codes = [
                code
                for code in world.catalog.xids.application
                if pattern.search(_SAMPLE.format(code))
            ]
            if codes:
                yield Finding(
                    f"rule `{each.reason}` of monitor `{monitor.name}` matches Xid {', '.join(map(str, codes))}",
                    monitor.where("rules"),
                    label="a faulty program takes the node away",
                    help="name the fatal Xids only: "
                    + ", ".join(map(str, world.catalog.xids.fatal())),
                )


# NVRM's line in the kernel log, driver 580.
_SAMPLE = "NVRM: Xid (PCI:0000:3b:00): {}, pid=12345, name=python, Ch 00000008"
