from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan


@rule("EFA016", aliases=("efa-offered-twice",))
def efa_plugin_beside_dra_driver(plan: Plan, world: World) -> Iterator[Finding]:
    """The EFA device plugin and the EFA DRA driver are both installed.

    Both give out the same devices, and neither knows of the other: "never beside the EFA device plugin on a node"
    (EKS user guide, device-management-efa). Two that select nodes may be for different ones.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: efa, namespace: flux-system}
        spec:
          chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.5.30}}
          values: {tolerations: [{operator: Exists}]}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dranet, namespace: flux-system}
        spec: {chart: {spec: {chart: aws-dranet, version: 1.0.0}}}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dranet, namespace: flux-system}
        spec: {chart: {spec: {chart: aws-dranet, version: 1.0.0}}}
    """
    drivers = world.releases("aws-dranet")
    plugins = world.releases("aws-efa-k8s-device-plugin")
    selecting = any(
        value_at(release.values, field)
        for release in (*drivers, *plugins)
        for field in ("nodeSelector", "affinity")
    )
    if drivers and plugins and not selecting:
        yield Finding(
            "the EFA device plugin and the EFA DRA driver are both installed",
            drivers[0].where("chart"),
            help="keep one of them",
        )
