"""Divides the block of a VPC into subnets.

A subnet never changes its block, so what it is must follow from nothing that an edit changes: an eighth of the VPC is
kept for each zone by its letter, `a` to `g`, and the last eighth, cut in eight again, for the public subnets. A zone or
a pool that comes moves no other one.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

LETTERS = "abcdefg"
_LONGEST = 28  # VPC user guide, subnet sizing: /16 to /28


def private_part(cidr: str, zone: str) -> str | None:
    """The block of a zone's private subnet; ``None`` where none is kept for its letter, or none is left."""
    part = _letter(zone)
    block = IPv4Network(cidr)
    if part is None or block.prefixlen + 3 > _LONGEST:
        return None
    return str(_eighth(block, part))


def public_part(cidr: str, zone: str) -> str | None:
    """The block of a zone's public subnet; ``None`` where none is kept for its letter, or none is left."""
    part = _letter(zone)
    block = IPv4Network(cidr)
    if part is None or block.prefixlen + 6 > _LONGEST:
        return None
    return str(_eighth(_eighth(block, 7), part))


def overlapping(blocks: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The names of blocks that share addresses, each pair once."""
    named = blocks.items()
    read = [(name, IPv4Network(block)) for name, block in named]
    for index, (name, block) in enumerate(read):
        for other, taken in read[:index]:
            if block.overlaps(taken):
                yield name, other


def _letter(zone: str) -> int | None:
    index = LETTERS.find(zone[-1:])
    return index if index >= 0 else None


def _eighth(block: IPv4Network, part: int) -> IPv4Network:
    size = block.num_addresses // 8
    first = block.network_address + part * size
    return IPv4Network((first, block.prefixlen + 3))
