"""The NodePools of a pool: one, or one for each of several reservations.

Karpenter takes nodes from whichever reservation a node class selects, and says so on the node only afterwards
(`karpenter.k8s.aws/capacity-reservation-id`). A NodePool for each makes the nodes of each as many as were bought, and
its template labels them before they exist.
"""

from __future__ import annotations

from trainyard.core.pools.pools import Pool
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.naming import part_name
from trainyard.plan.scheduling import POOL_LABEL, RESERVATION_LABEL


@dataclass(frozen=True, slots=True)
class Part:
    """What one NodePool has of a pool: its name, its reservation if any, its nodes, and labels in addition to the
    pool's."""

    name: str
    reservation: str | None
    nodes: int
    labels: dict[str, str]
    at_reservation: Route
    at_nodes: Route


def parts(pool: Pool) -> tuple[Part, ...]:
    """Each NodePool of a pool. The name of one that has a reservation of several holds its id, so that it stays."""
    at = pool.at_capacity
    reservations = pool.spec.reservations
    if not pool.split:
        if reservations:
            only = reservations[0].id
        else:
            only = None
        return (Part(pool.name, only, pool.nodes, {}, at, pool.at / "nodes"),)
    node_pools = []
    for index, reservation in enumerate(reservations):
        here = at / "reservations" / index
        part = Part(
            name=part_name(pool.name, reservation.id),
            reservation=reservation.id,
            nodes=reservation.nodes or pool.nodes,
            labels={POOL_LABEL: pool.name, RESERVATION_LABEL: reservation.id},
            at_reservation=here,
            at_nodes=here / "nodes",
        )
        node_pools.append(part)
    return tuple(node_pools)
