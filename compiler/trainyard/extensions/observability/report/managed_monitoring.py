"""What is sent to the monitoring services of AWS, and what they cost: assumptions, each named."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.prices import MONTH, service
from trainyard.extensions.forecast.blocks import Block, Heading, listing, paragraph
from trainyard.extensions.forecast.costs import ALWAYS, Gp3, Item, disk_items, monthly, prices_known
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.observability.managed_monitoring import agent
from trainyard.extensions.observability.managed_monitoring.plan import (
    GrafanaWorkspace,
    SampleVolume,
)
from trainyard.extensions.observability.monitoring.sizing import BYTES_A_SAMPLE

_GIB = 2**30
_DAY = 24 * 3600
_TEN_MILLION = 10_000_000
_SENT, _KEPT, _EDITOR = "AMP 10 million samples", "AMP GiB month", "AMG editor month"


def section(planned: PlannedCluster) -> Iterator[Block]:
    """The sums of samples, and USD a month of each service."""
    volume = planned.plan.one(SampleVolume)
    if volume is None:
        return
    yield Heading("Monitoring")
    yield paragraph(
        f"At most {volume.series:,} series, a sample each {volume.interval} seconds: "
        f"{_samples(volume) / 1e6:,.0f} million samples a month. The Prometheus that sends them has {volume.memory} "
        f"of memory and {volume.cpu}m CPU."
    )
    yield listing(_prices(planned, volume))


def items(planned: PlannedCluster) -> Iterator[Item]:
    """What is paid for samples at most, and for the one editor that Grafana has at least."""
    volume = planned.plan.one(SampleVolume)
    if volume is None:
        return
    ways = (("samples sent", _sent(volume), _SENT), ("samples kept", _kept_gib(volume), _KEPT))
    for name, amount, unit in ways:
        price = service(unit, planned.spec.region)
        yield Item(
            name=name,
            what=f"of {volume.series:,} series, by Amazon Managed Service for Prometheus",
            least=0,
            most=1,
            usd=monthly(amount, price),
            how="at most, as counted in Monitoring",
            prices=prices_known(price),
        )
    yield disk_items(planned, "volume of Prometheus", Gp3(agent.DISK), ALWAYS)
    if planned.plan.one(GrafanaWorkspace) is not None:
        price = service(_EDITOR, planned.spec.region)
        yield Item(
            name="editor of Grafana",
            what="one person, of Amazon Managed Grafana",
            least=1,
            most=1,
            usd=monthly(1, price),
            how="always: one at least",
            prices=prices_known(price),
        )


def _samples(volume: SampleVolume) -> float:
    """Samples of a month."""
    return volume.series * MONTH * 3600 / volume.interval


def _sent(volume: SampleVolume) -> float:
    """Ten millions of samples of a month."""
    return _samples(volume) / _TEN_MILLION


def _kept_gib(volume: SampleVolume) -> float:
    samples = volume.series * volume.days * _DAY / volume.interval
    return samples * BYTES_A_SAMPLE / _GIB


def _prices(planned: PlannedCluster, volume: SampleVolume) -> Iterator[str]:
    region = planned.spec.region
    sent = service(_SENT, region)
    if sent is not None:
        usd = _sent(volume) * sent.usd
        yield (
            f"sent: at most ${usd:,.2f} a month, by the price of {sent.region} for the first 2 billion samples of a "
            "month; those beyond cost less"
        )
    kept = service(_KEPT, region)
    if kept is not None:
        size = _kept_gib(volume)
        yield (
            f"kept for {volume.days} days: at most {size:,.1f} GiB of {BYTES_A_SAMPLE} bytes a sample, "
            f"${size * kept.usd:,.2f} a month by the price of {kept.region}"
        )
    asked = service("AMP billion samples queried", region)
    if asked is not None:
        yield (
            f"asked for: ${asked.usd:,.2f} for a billion samples that queries of rules and dashboards read, by the "
            f"price of {asked.region}; not counted"
        )
    editor = service(_EDITOR, region)
    viewer = service("AMG viewer month", region)
    if planned.plan.one(GrafanaWorkspace) is not None and editor is not None and viewer is not None:
        yield (
            f"Grafana: ${editor.usd:,.2f} a month for each person who edits, one at least, and "
            f"${viewer.usd:,.2f} for each who only looks"
        )
