"""What the report says of metrics and logs: what is assumed to come, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.costs import Item
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.observability.report import logs, managed_monitoring, monitoring

__all__ = ["SECTIONS", "costs"]

SECTIONS = (monitoring, managed_monitoring, logs)


def costs(planned: PlannedCluster) -> Iterator[Item]:
    """What is paid for samples and lines."""
    for each in SECTIONS:
        yield from each.items(planned)
