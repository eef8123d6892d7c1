"""What is sent to the monitoring services of AWS, and what they cost: assumptions, each named."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog.prices import service
from compiler.platforms.eks.managed_monitoring.plan import GrafanaWorkspace, SampleVolume
from compiler.platforms.eks.monitoring.sizing import BYTES_A_SAMPLE
from compiler.report.bill import MONTH
from compiler.report.blocks import Block, Heading, listing, paragraph
from compiler.report.subject import Subject

_GIB = 2**30
_DAY = 24 * 3600
_TEN_MILLION = 10_000_000


def section(subject: Subject) -> Iterator[Block]:
    """The sums of samples, and USD a month of each service."""
    volume = subject.plan.one(SampleVolume)
    if volume is None:
        return
    yield Heading("Monitoring")
    monthly = volume.series * MONTH * 3600 / volume.interval
    yield paragraph(
        f"At most {volume.series:,} series, a sample each {volume.interval} seconds: {monthly / 1e6:,.0f} million "
        f"samples a month. The Prometheus that sends them has {volume.memory} of memory and {volume.cpu}m CPU."
    )
    yield listing(_prices(subject, volume, monthly))


def _prices(subject: Subject, volume: SampleVolume, monthly: float) -> Iterator[str]:
    region = subject.spec.region
    sent = service("AMP 10 million samples", region)
    if sent is not None:
        usd = monthly / _TEN_MILLION * sent.usd
        yield (
            f"sent: at most ${usd:,.2f} a month, by the price of {sent.region} for the first 2 billion samples of a "
            "month; those beyond cost less"
        )
    kept = service("AMP GiB month", region)
    if kept is not None:
        samples = volume.series * volume.days * _DAY / volume.interval
        size = samples * BYTES_A_SAMPLE / _GIB
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
    editor = service("AMG editor month", region)
    viewer = service("AMG viewer month", region)
    if subject.plan.one(GrafanaWorkspace) is not None and editor is not None and viewer is not None:
        yield (
            f"Grafana: ${editor.usd:,.2f} a month for each person who edits, one at least, and "
            f"${viewer.usd:,.2f} for each who only looks"
        )
