from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Cluster
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("HLT023", aliases=("auto-mode-implicit",), severity=Severity.NOTE)
def auto_mode_not_set(cluster: Cluster) -> Iterator[Finding]:
    """A cluster with node groups does not say whether it uses EKS Auto Mode.

    eksctl 0.230 leaves it off and says that a later release will turn it on by default; a cluster with Auto Mode
    cannot be created with node groups (eksctl, validation of autoModeConfig).

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups: [{name: cpu, instanceType: m7i.2xlarge}]
    """
    if cluster.auto_mode is None and cluster.node_groups:
        yield Finding(
            f"cluster `{cluster.name}` leaves EKS Auto Mode to eksctl's default",
            cluster.where("auto_mode"),
            help="write `autoModeConfig: {enabled: false}`",
        )
