from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import version_key
from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("HLT015", aliases=("repair-blocked",), severity=Severity.WARNING)
def node_repair_blocked_by_reservation(release: HelmRelease, world: World) -> Iterator[Finding]:
    """Node repair cannot replace a node of a full reservation.

    Since Karpenter 1.15 repair launches the new node before it ends the unhealthy one; a reservation or Capacity Block
    that is full has no room for it, unless `TerminateFirstRepair` is on (karpenter core 1.15, node repair).

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: karpenter, namespace: flux-system}
        spec:
          chart: {spec: {chart: karpenter, version: 1.15.0}}
          values: {settings: {interruptionQueue: jobs, featureGates: {nodeRepair: true}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: reserved}
        spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]}}}
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {capacityReservationSelectorTerms: [{id: cr-0a1b2c3d4e5f60718}]}

    ## Passes

        nodePools: [{name: gpu, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
    """
    if release.chart != "karpenter" or version_key(release.version) < (1, 15):
        return
    gates = value_at(release.values, "settings", "featureGates")
    first = value_at(gates, "terminateFirstRepair")
    unknown = first is None and "values" in release.unread
    if not value_at(gates, "nodeRepair") or first or unknown:
        return
    pools = world.plan.of(NodePool)
    full = (pool for pool in pools if pool.capacity_types == ("reserved",))
    pool = next(full, None)
    if pool is not None:
        yield Finding(
            f"node repair waits for a free place in the reservation of pool `{pool.title}`",
            release.where("values"),
            help="set `settings.featureGates.terminateFirstRepair: true`",
        )
