from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("HLT004", aliases=("repair-without-agent",), severity=Severity.WARNING)
def node_repair_without_monitoring_agent(release: HelmRelease, world: World) -> Iterator[Finding]:
    """Node repair is on, and nothing monitors the accelerators.

    Without the node monitoring agent a node has only `Ready`: a GPU that fell off the bus is never seen
    (karpenter-provider-aws v1.14.1, RepairPolicies; eks-node-monitoring-agent 1.7.0).

    ## Fails

        health: {nodeMonitoringAgent: false}

    ## Passes

        health: {nodeMonitoringAgent: true}
    """
    repair = value_at(release.values, "settings", "featureGates", "nodeRepair")
    if release.chart != "karpenter" or not repair or not world.plan.closed:
        return
    cluster = world.plan.one(Cluster)
    addons = cluster.addons if cluster else ()
    names = [addon.name for addon in addons]
    installed = world.releases(AGENT) or AGENT in names
    pools = world.plan.of(NodePool)
    if not installed and any(map(world.accelerated, pools)):
        yield Finding(
            "node repair is on without the node monitoring agent",
            release.where("values") / "settings" / "featureGates" / "nodeRepair",
            help="install `eks-node-monitoring-agent`",
            spec_help="write `health: {nodeMonitoringAgent: true}`, or remove `nodeMonitoringAgent`",
        )


AGENT = "eks-node-monitoring-agent"
