from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from compiler.diagnostics import Severity
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World
from compiler.subjects.cluster.plan import Cluster


@rule("HLT024", severity=Severity.WARNING)
def kubernetes_out_of_support(
    cluster: Cluster,
    world: World,
) -> Iterator[Finding]:
    """The Kubernetes version of a cluster is out of standard support.

    EKS then charges $0.60 instead of $0.10 an hour for the control plane (AWS containers blog, extended support
    pricing, 2024), and upgrades it by itself at the end of extended support (EKS user guide, Kubernetes versions).
    Versions whose dates are not known are not judged.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.32"}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
    """
    end = _STANDARD_ENDS.get(cluster.kubernetes)
    if end is not None and world.today > end:
        yield Finding(
            f"Kubernetes {cluster.kubernetes} left standard support on {end}",
            cluster.where("kubernetes"),
            help='write `version: "1.35"`',
        )


# EKS user guide, kubernetes-versions; the last day of standard support (1.31: a year before that of extended).
_STANDARD_ENDS = {
    "1.31": date(2025, 11, 26),
    "1.32": date(2026, 3, 23),
    "1.33": date(2026, 7, 29),
    "1.34": date(2026, 12, 2),
}
