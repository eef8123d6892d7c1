from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Addon, Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import tolerations
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.plan import Plan


@rule("HLT005", aliases=("dcgm-agent-untolerating",))
def dcgm_server_lacks_toleration(plan: Plan, world: World) -> Iterator[Finding]:
    """The monitoring agent's DCGM server does not tolerate the taint of a GPU pool.

    The agent runs everywhere, its `dcgmAgent` only where `tolerations` let it, and those are empty by default: on a
    tainted node the agent finds no DCGM, sets `AcceleratedHardwareReady=False` after a minute, and node repair
    deletes a healthy node after ten (eks-node-monitoring-agent 1.7.0; aws/containers-roadmap #2567). It comes
    as a chart or as an add-on of EKS, with the same values.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: agent, namespace: flux-system}
        spec: {chart: {spec: {chart: eks-node-monitoring-agent, version: 1.7.0}}, values: {nodeAgent: {}}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: agent, namespace: flux-system}
        spec:
          chart: {spec: {chart: eks-node-monitoring-agent, version: 1.7.0}}
          values: {dcgmAgent: {tolerations: [{operator: Exists}]}}
    """
    for agent, at in _agents(plan):
        reach = tolerations(agent, "dcgmAgent", "tolerations")
        for pool, taint in world.kept_off(reach):
            if any(instance.gpus for instance in world.types(pool)):
                yield Finding(
                    f"`dcgmAgent` does not tolerate `{taint}` of pool `{pool.title}`",
                    at,
                    label="node repair deletes healthy nodes",
                    help="add the taint to `dcgmAgent.tolerations`",
                )


def _agents(plan: Plan) -> Iterator[tuple[HelmRelease | Addon, Route]]:
    yield from (
        (release, release.where("values"))
        for release in plan.of(HelmRelease)
        if release.chart == _AGENT
    )
    cluster = plan.one(Cluster)
    if cluster is not None:
        place = cluster.where("addons")
        yield from (
            (addon, place / index)
            for index, addon in enumerate(cluster.addons)
            if addon.name == _AGENT
        )


_AGENT = "eks-node-monitoring-agent"
