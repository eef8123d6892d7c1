"""By which levels gangs are placed: the reservation, and the layers of EC2's network."""

from __future__ import annotations

from trainyard.core.pools.pools import Pool
from trainyard.plan.scheduling import HOSTNAME, RESERVATION_LABEL

# EC2 DescribeInstanceTopology; EKS labels the nodes, widest layer first.
NETWORK_LAYERS = tuple(f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3))
_NETWORK, _RESERVATIONS = "ec2-network", "reservations"
LEVELS = {
    "reservation": RESERVATION_LABEL,
    **{label.partition("/")[2]: label for label in NETWORK_LAYERS},
    "hostname": HOSTNAME,
}
"""The label of each level, by the word that a job names it by; widest first."""


def topology_name(pool: Pool) -> str | None:
    """The topology of a pool: named by its levels, which never change in a Topology that exists."""
    network = pool.spec.topology == "network"
    # Kueue counts the nodes that exist (kueue v0.19.2, TAS): a pool that starts from nothing has no room in any block.
    if pool.split and pool.static:
        if network:
            return f"{_RESERVATIONS}-{_NETWORK}"
        return _RESERVATIONS
    return _NETWORK if network else None


def preferred_level(pool: Pool) -> str | None:
    """The level below which a gang is kept together where it fits, or else below the next one up."""
    if topology_name(pool) is None:
        return None
    if pool.spec.topology == "network":
        return NETWORK_LAYERS[-1]
    return RESERVATION_LABEL


def levels_of(pool: Pool) -> tuple[str, ...]:
    """The words of the levels of a pool's topology, widest first; () without a topology."""
    topology = topology_name(pool)
    if topology is None:
        return ()
    labels = levels(topology)
    known = LEVELS.items()
    return tuple(word for word, label in known if label in labels)


def levels(topology: str) -> tuple[str, ...]:
    """The levels of a topology follow from its name alone."""
    reservation = (RESERVATION_LABEL,) if topology.startswith(_RESERVATIONS) else ()
    if topology.endswith(_NETWORK):
        network = NETWORK_LAYERS
    else:
        network = ()
    return (*reservation, *network, HOSTNAME)
