from __future__ import annotations

from collections.abc import Iterator

from compiler.policy.rule import Finding, rule
from compiler.policy.world import World
from compiler.subjects.pools.plan import NodeGroup


@rule("HLT017", aliases=("efa-plugin-of-eksctl",))
def efa_plugin_installed_twice(group: NodeGroup, world: World) -> Iterator[Finding]:
    """eksctl and a Helm release both install the EFA device plugin.

    With `efaEnabled` eksctl installs the plugin itself (eksctl 0.230); the chart's DaemonSet then registers the
    same resource on the same socket, and which one answers changes from start to start.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: efa, instanceType: p4d.24xlarge, efaEnabled: true, nodeRepairConfig: {enabled: true}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: efa, namespace: flux-system}
        spec:
          chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.5.30}}
          values: {tolerations: [{operator: Exists}]}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: efa, instanceType: p4d.24xlarge, efaEnabled: true, nodeRepairConfig: {enabled: true}}
    """
    releases = world.releases("aws-efa-k8s-device-plugin")
    if group.efa and releases:
        yield Finding(
            f"node group `{group.name}` has `efaEnabled`, and `{releases[0].name}` installs the plugin too",
            group.where("efa"),
            help="keep one owner: remove `efaEnabled`, or the release",
        )
