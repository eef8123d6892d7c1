"""The addresses that a node takes of its subnet: its own, those of its pods, and those that the VPC CNI keeps warm.

Source: amazon-vpc-cni-k8s v1.23.0, docs/eni-and-ip-target.md and docs/prefix-and-ip-target.md, whose tables are tests.
The CNI attaches interfaces to network card 0 alone (README, ENABLE_MULTI_NIC). An ``efa-only`` interface takes a place
of its card and no address (pkg/ipamd, maxENI less the unmanaged ones; EC2 user guide, efa-acc-inst-types).
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network
from math import ceil
from typing import Any

from trainyard.catalog.instance import InstanceType
from trainyard.language.dataclass import dataclass

_KEPT = 5  # of a subnet, by AWS (VPC user guide, subnet sizing)
_PREFIX = 16
_NONE: Mapping[str, Any] = {}


def usable(cidr: str) -> int:
    """The addresses of a subnet that its hosts can have."""
    return IPv4Network(cidr).num_addresses - _KEPT


@dataclass(frozen=True, slots=True)
class Warm:
    """What the CNI keeps ready on each node: whole interfaces, or addresses, or prefixes of 16."""

    interfaces: int = 1
    addresses: int | None = None
    minimum: int | None = None
    by_prefix: bool = False
    prefixes: int = 1

    @property
    def by_address(self) -> bool:
        """Whether it counts addresses, which goes before interfaces and prefixes."""
        return self.addresses is not None or self.minimum is not None

    def asked(self, pods: int) -> int:
        """The addresses for pods that it wants to have, where it counts addresses."""
        addresses = pods + (self.addresses or 0)
        return max(self.minimum or 0, addresses)


def warm(values: Mapping[str, Any]) -> Warm | None:
    """What the values of the add-on ask for; ``None`` where pods have other subnets than their nodes."""
    given = values.get("env", _NONE)
    env = given if isinstance(given, dict) else _NONE
    if _is_on(env.get("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG")):
        return None
    return Warm(
        interfaces=_or_one(env.get("WARM_ENI_TARGET")),
        addresses=_number(env.get("WARM_IP_TARGET")),
        minimum=_number(env.get("MINIMUM_IP_TARGET")),
        by_prefix=_is_on(env.get("ENABLE_PREFIX_DELEGATION")),
        prefixes=_or_one(env.get("WARM_PREFIX_TARGET")),
    )


def _or_one(value: Any) -> int:
    number = _number(value)
    return 1 if number is None else number


def _is_on(value: Any) -> bool:
    return str(value).lower() == "true"


def _number(value: Any) -> int | None:
    text = str(value)
    if text.isdecimal():
        return int(text)
    return None


def taken(instance: InstanceType, warm: Warm, pods: int, *, efa: bool) -> int:
    """The addresses of one node of a type with so many pods; the least, where the catalog does not know its cards."""
    each = instance.ipv4_per_interface - 1
    most = _interfaces(instance, efa=efa)
    if each < 1 or most < 1:
        return 1 + pods
    if warm.by_prefix:
        return _by_prefix(warm, pods, each, most)
    if warm.by_address:
        addresses = min(warm.asked(pods), each * most)
        interfaces = max(1, ceil(addresses / each))
        return addresses + interfaces
    interfaces = ceil(pods / each) + warm.interfaces
    interfaces = max(1, interfaces)
    return min(interfaces, most) * (each + 1)


def _by_prefix(warm: Warm, pods: int, each: int, most: int) -> int:
    prefixes = ceil(pods / _PREFIX) + warm.prefixes
    if warm.by_address:
        prefixes = ceil(warm.asked(pods) / _PREFIX)
    prefixes = min(prefixes, each * most)
    interfaces = max(1, ceil(prefixes / each))
    return prefixes * _PREFIX + interfaces


def _interfaces(instance: InstanceType, *, efa: bool) -> int:
    """The interfaces with addresses that card 0 takes."""
    if not instance.network_cards:
        return 0
    most = instance.network_cards[0].max_interfaces
    efa_cards = instance.efa_cards[: instance.efa_interfaces]
    if efa and 0 in efa_cards:
        most -= 1
    return most
