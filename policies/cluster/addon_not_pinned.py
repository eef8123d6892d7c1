from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import Cluster
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("HLT022", aliases=("addon-unpinned",), severity=Severity.WARNING)
def addon_not_pinned(cluster: Cluster) -> Iterator[Finding]:
    """An EKS add-on has no pinned version.

    Without `version` (or with `latest`) eksctl 0.230 takes what EKS offers on that day: the same file creates another
    cluster later, with another CNI or another agent on its nodes.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        addons: [{name: vpc-cni}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        addons: [{name: vpc-cni, version: v1.21.1-eksbuild.3}]
    """
    for index, addon in enumerate(cluster.addons):
        if addon.version in (None, "", "latest"):
            place = cluster.where("addons") / index
            what = "has no version"
            if addon.version == "latest":
                place, what = place / "version", "follows `latest`"
            yield Finding(
                f"add-on `{addon.name}` {what}",
                place,
                help="write `version:` as `aws eks describe-addon-versions` shows it",
            )
