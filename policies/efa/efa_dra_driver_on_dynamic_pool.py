from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("EFA017", aliases=("efa-driver-on-dynamic-pool",), severity=Severity.WARNING)
def efa_dra_driver_on_dynamic_pool(pool: NodePool, world: World) -> Iterator[Finding]:
    """The EFA DRA driver is installed, and a pool for EFA jobs scales from zero.

    The driver works on managed and self-managed node groups and on static Karpenter pools only (EKS user guide,
    device-management-efa): Karpenter does not launch nodes for resource claims.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dranet, namespace: flux-system}
        spec: {chart: {spec: {chart: aws-dranet, version: 1.0.0}}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: efa, namespace: flux-system}
        spec:
          chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.5.30}}
          values: {tolerations: [{operator: Exists}]}
    """
    driver = world.releases("aws-dranet")
    plugin = world.releases("aws-efa-k8s-device-plugin")
    if not world.starts_empty(pool) or not driver or plugin:
        return
    asking = next((work for work in world.works_on(pool) if work.efa), None)
    if asking is not None:
        yield Finding(
            f"pool `{pool.title}` starts from 0 nodes, and EFA comes from the DRA driver",
            pool.where("limits"),
            label=f"job `{asking.name}` asks for EFA",
            help="make the pool static (`replicas`), or use the plugin",
        )
