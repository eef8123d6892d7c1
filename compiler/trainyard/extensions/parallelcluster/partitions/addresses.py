"""Whether the subnets have an address for each node."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.core.network.spec import NetworkSection
from trainyard.core.pools.pools import Pool
from trainyard.plan.context import SPEC, Context

_AT = SPEC / "network" / "existing" / "subnets"


def check_addresses(context: Context, pools: Iterable[Pool]) -> None:
    """A fault of each subnet whose nodes have no address each, the least that a node takes. The nodes of a zone are
    all in its first private subnet; those of a pool with several zones may be in any, and are not counted."""
    network = NetworkSection.of(context.spec).network.existing
    if network is None:
        return
    placed = list(pools)
    for zone, (subnet, *others) in network.private.items():
        nodes = sum(pool.nodes for pool in placed if pool.zones == (zone,))
        if subnet.addresses is None or nodes <= subnet.addresses:
            continue
        help = "take fewer nodes, or a larger private subnet of the zone"
        if others:
            help = "take fewer nodes, or name the largest private subnet of the zone first"
        context.fault(
            "RES026",
            f"subnet `{subnet.id}` has {subnet.addresses} addresses, and its {nodes} nodes take one each at least",
            _AT / network.subnets.index(subnet) / subnet.sized_by,
            help,
            source="VPC user guide, subnet sizing",
        )
