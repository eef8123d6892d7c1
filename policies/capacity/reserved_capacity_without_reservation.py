from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("PLC009", aliases=("reserved-without-selector",))
def reserved_capacity_without_reservation(pool: NodePool, world: World) -> Iterator[Finding]:
    """A node pool takes reserved capacity, and its node class selects no reservation.

    Karpenter launches `reserved` only into reservations that `capacityReservationSelectorTerms` of the EC2NodeClass
    select; every other launch excludes open reservations too (karpenter-provider-aws v1.14.1). A pool of `reserved`
    alone never gets a node.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]}}

    ## Passes

        nodePools: [{name: gpu, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
    """
    types, node_class = pool.capacity_types or (), world.node_class(pool)
    if "reserved" not in types or node_class is None or node_class.reservations:
        return
    label, severity = "no node is ever launched", Severity.ERROR
    if set(types) != {"reserved"}:
        label, severity = "`reserved` is never used", Severity.WARNING
    yield Finding(
        f"pool `{pool.title}` takes `reserved` capacity, and node class `{node_class.name}` selects no reservation",
        pool.where("capacity_types"),
        label=label,
        help="add `capacityReservationSelectorTerms` with the id of the reservation, or take `on-demand`",
        severity=severity,
    )
