"""What Prometheus was sized for: its series by exporter, and the sums that its memory and disk are."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.blocks import (
    Block,
    Explained,
    Heading,
    Strong,
    Text,
    paragraph,
    table,
)
from trainyard.extensions.forecast.costs import ALWAYS, Gp3, Item, disk_items
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.observability.monitoring import sizing
from trainyard.extensions.observability.monitoring.plan import MonitoringSize


def section(planned: PlannedCluster) -> Iterator[Block]:
    """A line for each exporter, then memory and disk as sums that can be checked by hand."""
    size = planned.plan.one(MonitoringSize)
    if size is None:
        return
    yield Heading("Monitoring")
    yield table(("series of", "at most:"), _rows(size))
    yield paragraph(*sums(size))


def items(planned: PlannedCluster) -> Iterator[Item]:
    """The volumes of Prometheus and of its Alertmanager."""
    size = planned.plan.one(MonitoringSize)
    if size is None:
        return
    yield disk_items(planned, "volume of Prometheus", Gp3(size.disk), ALWAYS)
    yield disk_items(planned, "volume of Alertmanager", Gp3(sizing.ALERTMANAGER_DISK), ALWAYS)


def _rows(size: MonitoringSize) -> Iterator[tuple[Text, Text]]:
    for exporter, series in sorted(size.series.items(), key=lambda item: -item[1]):
        if series:
            yield exporter, Explained(f"{series:,}", size.reasons[exporter])
    yield Strong("all"), Explained(f"{size.total:,}", "the sum of those above")


def sums(size: MonitoringSize) -> Iterator[str]:
    """Memory and disk, each as its sum and what is taken for it."""
    kib = sizing.BYTES_A_SERIES // 1024
    yield (
        f"Memory: {sizing.BASE_MIB} MiB, and {size.total:,} series × {sizing.CHURN} for pods that come and go "
        f"× {kib} KiB: {size.memory}, and {size.cpu}m CPU."
    )
    yield (
        f"Disk: {size.total:,} series, a sample each {size.interval} for {size.retention}, "
        f"× {sizing.BYTES_A_SAMPLE} bytes × {sizing.SPARE} to spare: {size.needed} needed, {size.disk} made."
    )
