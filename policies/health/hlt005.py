from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.delivery import HelmRelease
from compiler.plan.nodes import untolerated
from compiler.policy.rule import Finding, rule
from compiler.policy.values import tolerations
from compiler.policy.world import World


@rule("HLT005")
def dcgm_agent_untolerating(release: HelmRelease, world: World) -> Iterator[Finding]:
    """The monitoring agent's DCGM server does not tolerate the taint of a GPU pool.

    The agent runs everywhere, its `dcgmAgent` only where `tolerations` let it, and those are empty by default: on a
    tainted node the agent finds no DCGM, sets `AcceleratedHardwareReady=False` after a minute, and node repair
    deletes a healthy node after ten (eks-node-monitoring-agent 1.7.0; aws/containers-roadmap #2567).

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
    if release.chart != "eks-node-monitoring-agent":
        return
    reach = tolerations(release, "dcgmAgent", "tolerations")
    for pool in world.pools if reach is not None else ():
        left = untolerated(pool.taints, reach or ())
        if left and any(each.gpus for each in world.types(pool)):
            yield Finding(
                f"`dcgmAgent` does not tolerate `{left[0]}` of pool `{pool.name}`", release.where("values"),
                label="node repair deletes healthy nodes", help="add the taint to `dcgmAgent.tolerations`",
            )
