"""How many addresses a subnet has for the nodes of a cluster."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from compiler.context import SPEC
from compiler.places import Route

if TYPE_CHECKING:
    from compiler.core.network.forms.existing import ExistingNetwork, Subnet

KEPT = 5
"""The addresses of a subnet that AWS keeps (VPC user guide, subnet sizing)."""


def usable(cidr: str) -> int:
    """The addresses of a subnet that its hosts can have."""
    return IPv4Network(cidr).num_addresses - KEPT


def addresses_of(subnet: Subnet) -> int | None:
    """The free addresses of a subnet, or all that its hosts can have; ``None`` where neither is said."""
    if subnet.free_addresses is not None:
        return subnet.free_addresses
    if subnet.cidr is None:
        return None
    return usable(subnet.cidr)


def place_of_addresses(given: ExistingNetwork, subnet: Subnet) -> Route:
    """Where the spec says how many addresses a subnet has."""
    key = "cidr" if subnet.free_addresses is None else "freeAddresses"
    index = given.subnets.index(subnet)
    return SPEC / "network" / "existing" / "subnets" / index / key
