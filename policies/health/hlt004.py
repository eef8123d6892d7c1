from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.values import value
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World
from compiler.subjects.cluster.plan import Cluster
from compiler.subjects.delivery.plan import HelmRelease
from compiler.subjects.pools.plan import NodePool


@rule("HLT004", severity=Severity.WARNING)
def repair_without_agent(release: HelmRelease, world: World) -> Iterator[Finding]:
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
    cluster = world.plan.one(Cluster)
    addons = {addon.name for addon in cluster.addons} if cluster else set()
    if (
        world.plan.closed
        and not world.releases(AGENT)
        and AGENT not in addons
        and any(world.accelerated(each) for each in world.plan.of(NodePool))
    ):
        yield Finding(
            "node repair is on without the node monitoring agent",
            release.where("values"),
            help="install `eks-node-monitoring-agent`",
        )


AGENT = "eks-node-monitoring-agent"
