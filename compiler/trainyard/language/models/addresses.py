"""IP addresses and blocks of them, as a spec may write them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Any

from trainyard.language.models.checks import as_text, fault
from trainyard.language.models.editor import shaped

# What IPv4Address and IPv4Network read has this form; a netmask may replace the prefix length.
_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_BLOCK = rf"{_ADDRESS}/(?:[0-9]{{1,2}}|{_ADDRESS})"


def cidr(value: Any, example: str = "10.0.0.0/16") -> str:
    """An IPv4 block, in its canonical form; ``example`` shows how one is written."""
    text = as_text(value, "a CIDR", example)
    if ":" in text:
        raise fault(f"`{text}` is not an IPv4 block", f"write an IPv4 block, like `{example}`")
    if "/" not in text:
        if text.endswith(".0"):
            _, _, length = example.partition("/")
        else:
            length = "32"
        help = _cidr_help(f"{text}/{length}", example)
        raise fault(f"`{text}` is not a CIDR block: it has no prefix length", help)
    try:
        return str(IPv4Network(text))
    except ValueError as problem:
        why = str(problem)
        why = why[:1].lower() + why[1:]
        raise fault(f"`{text}` is not a CIDR block: {why}", _cidr_help(text, example)) from None


@shaped(_ADDRESS)
def address(value: Any) -> str:
    """The IPv4 address of a host."""
    text = as_text(value, "an address", "10.0.1.20")
    try:
        parsed = IPv4Address(text)
    except ValueError:
        raise fault(f"`{text}` is not an IPv4 address", "write it like `10.0.1.20`") from None
    if (
        parsed in _THIS_NETWORK
        or parsed.is_loopback
        or parsed.is_link_local
        or parsed.is_multicast
        or parsed.is_reserved
    ):
        raise fault(
            f"no host can have the address `{text}`", "write it like `10.0.1.20`", source="RFC 6890"
        )
    return text


# EKS user guide, cluster-endpoint: no block of the public endpoint has reserved addresses in it. Those that no host of
# the internet has (RFC 1918, 6598, 6890); those of examples (RFC 5737) stand in the guide's own example.
_NOT_OF_THE_INTERNET = {
    "10.0.0.0/8": "private addresses",
    "172.16.0.0/12": "private addresses",
    "192.168.0.0/16": "private addresses",
    "100.64.0.0/10": "addresses shared behind a provider's NAT",
    "127.0.0.0/8": "loopback addresses",
    "169.254.0.0/16": "link-local addresses",
    "192.0.0.0/24": "addresses of protocols",
    "198.18.0.0/15": "addresses for benchmarks",
    "224.0.0.0/4": "multicast addresses",
    "240.0.0.0/4": "reserved addresses",
}
_OF_THE_INTERNET = "203.0.113.0/24"


@shaped(_BLOCK)
def public_cidr(value: Any) -> str:
    """A block of addresses of the internet."""
    text = cidr(value, _OF_THE_INTERNET)
    block = IPv4Network(text)
    for reserved, what in _NOT_OF_THE_INTERNET.items():
        if block.subnet_of(IPv4Network(reserved)):
            raise fault(
                f"`{text}` are {what}, from which nobody comes over the internet",
                "write the address that your network has outside, its NAT's; what is inside the VPC, or "
                "reaches it by peering or a VPN, needs no entry",
                source="EKS user guide, cluster-endpoint",
            )
    if block.prefixlen and block.subnet_of(_THIS_NETWORK):
        raise fault(
            f"`{text}` are addresses of no host",
            f"write a block like `{_OF_THE_INTERNET}`",
            source="RFC 6890",
        )
    return text


def _cidr_help(text: str, example: str) -> str:
    try:
        return f"write `{IPv4Network(text, strict=False)}`"
    except ValueError:
        return f"write it like `{example}`"


@shaped(rf"{_ADDRESS}/(?:1[6-9]|2[0-4]|{_ADDRESS})")
def vpc_cidr(value: Any) -> str:
    """The block of a new VPC."""
    text = cidr(value)
    length = IPv4Network(text).prefixlen
    if not 16 <= length <= 24:
        # VPC: /16 to /28 (EC2 CreateVpc); eksctl cuts it in eight, and EKS requires 16 addresses a subnet.
        raise fault(
            f"`{text}` is a block of /{length}; the VPC of a cluster has /16 to /24",
            "write a block like `10.0.0.0/16`",
            source="EC2 API, CreateVpc; eksctl 0.230.0 cuts it in eight",
        )
    return _of_hosts(text)


@shaped(rf"{_ADDRESS}/(?:1[6-9]|2[0-8]|{_ADDRESS})")
def subnet_cidr(value: Any) -> str:
    """The block of a subnet that exists."""
    text = cidr(value)
    length = IPv4Network(text).prefixlen
    if not 16 <= length <= 28:
        raise fault(
            f"`{text}` is a block of /{length}; a subnet has /16 to /28",
            "write the CidrBlock that `aws ec2 describe-subnets` shows, like `10.0.32.0/19`",
            source="VPC user guide, subnet sizing",
        )
    return _of_hosts(text)


def _of_hosts(text: str) -> str:
    first = IPv4Network(text).network_address
    # RFC 6890: "this network", loopback, link-local, multicast and reserved addresses are no host's.
    if (
        first in _THIS_NETWORK
        or first.is_loopback
        or first.is_link_local
        or first.is_multicast
        or first.is_reserved
    ):
        raise fault(
            f"no host can have an address of `{text}`",
            "write a private block, like `10.0.0.0/16`",
            source="RFC 6890",
        )
    return text


_THIS_NETWORK = IPv4Network("0.0.0.0/8")
