from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("PLC017", severity=Severity.WARNING)
def interruption_queue_missing(release: HelmRelease, world: World) -> Iterator[Finding]:
    """Pools may launch spot, and Karpenter has no interruption queue.

    Without `settings.interruptionQueue` Karpenter does not see spot interruptions, rebalance recommendations and
    scheduled events (karpenter v1.14, chart values): nodes vanish without a drain.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: karpenter, namespace: flux-system}
        spec: {chart: {spec: {chart: karpenter, version: 1.14.1}}, values: {settings: {interruptionQueue: ""}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: spot}
        spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}

    ## Passes

        nodePools: [{name: gpu, capacity: {spot: {}}}]
        jobs: [{name: llama, nodes: 1}]
    """
    if release.chart != "karpenter":
        return
    queue = value_at(release.values, "settings", "interruptionQueue")
    unknown = queue is None and "values" in release.unread
    if queue or unknown:
        return
    pools = world.plan.of(NodePool)
    spot = next((pool for pool in pools if "spot" in (pool.capacity_types or ())), None)
    if spot is not None:
        yield Finding(
            f"pool `{spot.title}` may launch spot, and Karpenter has no interruption queue",
            release.where("values"),
            help="set `settings.interruptionQueue` to the SQS queue of the cluster",
        )
