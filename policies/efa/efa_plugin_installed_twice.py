from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan.scheduling import Toleration, untolerated

_CHART = "aws-efa-k8s-device-plugin"
# eksctl v0.230.0, pkg/addons/assets/efa-device-plugin.yaml: a DaemonSet of the chart's name, in kube-system.
_EKSCTL_NAME = "aws-efa-k8s-device-plugin"
_TOLERATED = (
    Toleration("CriticalAddonsOnly", "Exists"),
    Toleration("aws.amazon.com/efa", "Exists", "", "NoSchedule"),
)


@rule("HLT017", aliases=("efa-plugin-of-eksctl",))
def efa_plugin_installed_twice(group: NodeGroup, world: World) -> Iterator[Finding]:
    """eksctl and a Helm release both install the EFA device plugin.

    With `efaEnabled` eksctl installs the plugin itself, at every `create cluster` and `create nodegroup` (eksctl 0.230,
    efa-device-plugin.yaml). The chart's DaemonSet registers the same resource on the same socket, and which one answers
    changes from start to start; or it has the same name, and eksctl's takes its place. Nothing is reported of a group
    whose taints eksctl's plugin does not tolerate, where the chart's DaemonSet has another name (`fullnameOverride`).

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

        # as the first that fails, but
        kind: ClusterConfig
        managedNodeGroups: [{name: efa, taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}]
        ---
        kind: HelmRelease
        spec: {values: {fullnameOverride: efa-device-plugin}}
    """
    if not group.efa:
        return
    kept_away = untolerated(group.taints, _TOLERATED)
    for release in world.releases(_CHART):
        if kept_away and _has_own_name(release):
            continue
        yield Finding(
            f"node group `{group.title}` has `efaEnabled`, and `{release.name}` installs the plugin too",
            group.where("efa"),
            help="keep one owner: remove `efaEnabled`, or the release; or taint the group, and give the DaemonSet "
            "of the chart a name by `fullnameOverride`",
        )
        return


def _has_own_name(release: HelmRelease) -> bool:
    """Whether the DaemonSet of a release is certainly another one than eksctl's."""
    name = value_at(release.values, "fullnameOverride")
    return isinstance(name, str) and bool(name) and name != _EKSCTL_NAME
