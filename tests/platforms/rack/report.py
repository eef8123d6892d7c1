"""What the report says of a rack."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.blocks import Block, Heading, paragraph
from trainyard.extensions.forecast.costs import Item, pool_item
from trainyard.extensions.forecast.planned import PlannedCluster

SECTIONS = ()


def costs(planned: PlannedCluster) -> Iterator[Item]:
    """Its machines."""
    for pool in planned.pools():
        yield pool_item(planned, pool)


def repair(planned: PlannedCluster) -> Iterator[Block]:
    """By hand."""
    yield Heading("Repair of nodes")
    yield paragraph("Whoever keeps the machines.")
