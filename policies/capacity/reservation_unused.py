from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import titles
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed


@rule("PLC010")
def reservation_unused(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """A node class selects a reservation that no pool can use.

    Karpenter launches into a reservation only for pools that allow `karpenter.sh/capacity-type: reserved`
    (karpenter-provider-aws v1.14.1): the reservation is paid for and stays empty.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {capacityReservationSelectorTerms: [{id: cr-0a1b2c3d4e5f60718}]}

    ## Passes

        nodePools: [{name: gpu, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
    """
    pools = world.pools_of_class(node_class)
    if not node_class.reservations or not pools:
        return
    takers = [
        pool for pool in pools if pool.capacity_types is None or "reserved" in pool.capacity_types
    ]
    if not takers:
        names = listed(titles(pools))
        takes = listed(pools[0].capacity_types or ())
        yield Finding(
            f"node class `{node_class.name}` selects a reservation that pool {names} cannot use: it takes {takes}",
            node_class.where("reservations"),
            label="paid for, and never used",
            help="add `reserved` to the pool's `karpenter.sh/capacity-type`, or remove the reservation",
        )
