from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import EFA
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan


@rule("EFA014")
def efa_plugin_missing(plan: Plan, world: World) -> Iterator[Finding]:
    """Jobs ask for EFA, and nothing offers it to Kubernetes.

    `vpc.amazonaws.com/efa` is on a node only while the EFA device plugin (or DRA driver) runs there (eks-charts
    aws-efa-k8s-device-plugin v0.5.30): without it the pods stay Pending.

    ## Fails

        # a whole cluster
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: aws-efa-k8s-device-plugin, namespace: flux-system}
        $patch: delete

    ## Passes

        jobs: [{name: llama}]
    """
    if not plan.closed or not plan.of(HelmRelease):
        return
    if world.releases(*_OFFER):
        return
    for work in world.works:
        if not work.efa:
            continue
        if work.pools and all(isinstance(pool, NodePool) and pool.auto for pool in work.pools):
            continue  # nodes of EKS Auto Mode have the plugin (aws/eks-charts#1359)
        yield Finding(
            f"job `{work.name}` asks for EFA, and no EFA device plugin is installed",
            work.place(EFA),
            help="install the chart `aws-efa-k8s-device-plugin`",
        )
        return


_OFFER = ("aws-efa-k8s-device-plugin", "aws-dranet")
