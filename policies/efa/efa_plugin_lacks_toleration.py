from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.values import tolerations
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("EFA015", aliases=("efa-plugin-untolerating",))
def efa_plugin_lacks_toleration(release: HelmRelease, world: World) -> Iterator[Finding]:
    """The EFA device plugin does not tolerate the taints of a pool whose jobs ask for EFA.

    The chart's `tolerations` are empty by default (eks-charts aws-efa-k8s-device-plugin v0.5.30): on tainted nodes
    no plugin runs, no node offers `vpc.amazonaws.com/efa`, and the pods stay Pending.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: efa, namespace: flux-system}
        spec: {chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.5.30}}, values: {resources: {}}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: efa, namespace: flux-system}
        spec:
          chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.5.30}}
          values: {tolerations: [{operator: Exists}]}
    """
    if release.chart != "aws-efa-k8s-device-plugin":
        return
    reach = tolerations(release, "tolerations")
    for pool, taint in world.kept_off(reach):
        if any(work.efa for work in world.works_on(pool)):
            yield Finding(
                f"the EFA device plugin does not tolerate `{taint}` of pool `{pool.title}`",
                release.where("values"),
                label="no node offers EFA",
                help="add the taint to `tolerations` of the chart",
            )
