from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("HLT003", aliases=("repair-off",), severity=Severity.WARNING)
def node_repair_disabled(release: HelmRelease, world: World) -> Iterator[Finding]:
    """Unhealthy nodes are detected, and nothing repairs them.

    Karpenter's node repair is behind `settings.featureGates.nodeRepair`, off by default (karpenter v1.14): what the
    node monitoring agent finds stays on the node, and jobs keep landing there.

    ## Fails

        health: {nodeRepair: false}

    ## Passes

        health: {nodeRepair: true}
    """
    if release.chart == "karpenter" and world.releases("eks-node-monitoring-agent"):
        gate = value_at(release.values, "settings", "featureGates", "nodeRepair")
        if gate is False or (gate is None and world.plan.closed):
            yield Finding(
                "the node monitoring agent runs, and Karpenter's node repair is off",
                release.where("values") / "settings" / "featureGates" / "nodeRepair",
                help="set `settings.featureGates.nodeRepair: true`",
                spec_help="write `health: {nodeRepair: true}`, or remove `nodeRepair`",
            )
