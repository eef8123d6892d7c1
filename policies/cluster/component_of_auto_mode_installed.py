from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("PLC077", severity=Severity.WARNING)
def component_of_auto_mode_installed(release: HelmRelease, world: World) -> Iterator[Finding]:
    """A chart installs what EKS Auto Mode has by itself.

    Auto Mode runs Karpenter with the control plane, and has the device plugins of NVIDIA, Neuron and EFA, the node
    monitoring agent, the network and the CSI driver of EBS on its nodes (EKS user guide, eks-add-ons: considerations
    for EKS Auto Mode; aws/eks-charts#1359). A second Karpenter launches nodes for the same pods; a second plugin
    registers the same devices.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: true}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvidia-device-plugin, namespace: flux-system}
        spec: {chart: {spec: {chart: nvidia-device-plugin, version: 0.20.0}}}

    ## Passes

        # as the first that fails, but
        kind: ClusterConfig
        autoModeConfig: {enabled: false}
    """
    cluster = world.plan.one(Cluster)
    if cluster is None or cluster.auto_mode is not True or cluster.node_groups:
        return
    if release.chart in _BROUGHT:
        yield Finding(
            f"chart `{release.chart}` installs what EKS Auto Mode has by itself",
            release.at,
            help="remove it",
        )


_BROUGHT = (
    "karpenter",
    "nvidia-device-plugin",
    "aws-efa-k8s-device-plugin",
    "neuron-helm-chart",
    "eks-node-monitoring-agent",
    "aws-vpc-cni",
    "aws-ebs-csi-driver",
)
