"""Whether the subnets have an address for each node.

ParallelCluster takes one subnet of a zone, and a node one address of it at least: further interfaces with EFA have none
(aws-parallelcluster 3.16.1, queues_stack: ``efa-only``).
"""

from __future__ import annotations

from compiler.context import Context
from compiler.core.network.addresses import addresses_of, place_of_addresses
from compiler.core.network.spec import NetworkSection
from compiler.core.pools.pools import resolve_pools


def check_addresses(context: Context) -> None:
    """Report a subnet that has fewer addresses than the nodes that can be nowhere else."""
    existing = NetworkSection.of(context.spec).network.existing
    if existing is None:
        return
    pools = context.once(resolve_pools).values()
    for zone, subnets in existing.private.items():
        subnet = subnets[0]
        addresses = addresses_of(subnet)
        nodes = sum(pool.nodes for pool in pools if pool.zones == (zone,))
        if addresses is None or nodes <= addresses:
            continue
        context.fault(
            "RES026",
            f"the first private subnet in `{zone}`, `{subnet.id}`, has {addresses} addresses, and {nodes} nodes need "
            "one each",
            place_of_addresses(existing, subnet),
            "put a larger private subnet of the zone first, or take fewer nodes",
            source="aws-parallelcluster 3.16.1: one subnet of a zone; VPC user guide, subnet sizing",
        )
