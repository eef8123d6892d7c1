from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.plan.delivery import HelmRelease
from compiler.policy.rule import Finding, rule
from compiler.policy.values import value
from compiler.policy.world import World


@rule("HLT004", aliases=("repair-without-agent",), severity=Severity.WARNING)
def node_repair_without_monitoring_agent(
    release: HelmRelease, world: World
) -> Iterator[Finding]:
    """Node repair is on, and nothing looks at the accelerators.

    Without the node monitoring agent a node has only `Ready`: a GPU that fell off the bus is never seen
    (karpenter-provider-aws v1.14.1, RepairPolicies; eks-node-monitoring-agent 1.7.0).

    ## Fails

        health: {monitoringAgent: false}

    ## Passes

        health: {monitoringAgent: true}
    """
    if release.chart != "karpenter" or not value(
        release.values, "settings", "featureGates", "nodeRepair"
    ):
        return
    addons = (
        {each.name for each in world.plan.cluster.addons}
        if world.plan.cluster
        else set()
    )
    if (
        world.plan.closed
        and not world.releases(AGENT)
        and AGENT not in addons
        and any(world.accelerated(each) for each in world.plan.node_pools)
    ):
        yield Finding(
            "node repair is on without the node monitoring agent",
            release.where("values"),
            help="install `eks-node-monitoring-agent`",
        )


AGENT = "eks-node-monitoring-agent"
