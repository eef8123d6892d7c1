"""What logs are expected to take, and what the bucket costs: assumptions, each named."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog.prices import service
from compiler.platforms.eks.logs.plan import LogGroup, LogSize
from compiler.platforms.eks.logs.sizing import OTHERS
from compiler.report.bill import MONTH
from compiler.report.blocks import Block, Heading, paragraph
from compiler.report.subject import Subject

_GIB = 2**30


def section(subject: Subject) -> Iterator[Block]:
    """The sum of what is written and kept, and USD a month."""
    size = subject.plan.one(LogSize)
    if size is None:
        return
    yield Heading("Logs")
    if subject.plan.one(LogGroup) is not None:
        yield from _of_cloud_watch(subject, size)
        return
    yield paragraph(
        f"Assumed: {size.working} pods of jobs write {size.per_pod} a day each (`perPodDay`), and {size.others} others "
        f"{OTHERS}: {size.a_day} a day at most, {size.kept} in {size.retention}, before Loki compresses it."
    )
    price = service("S3 Standard GiB month", subject.spec.region)
    if price is None:
        yield paragraph("The price of S3 is not known.")
    else:
        usd = size.kept.value / _GIB * price.usd
        yield paragraph(
            f"In S3 at most ${usd:,.2f} a month, by the price of {price.region}; requests are not counted."
        )


def _of_cloud_watch(subject: Subject, size: LogSize) -> Iterator[Block]:
    """What CloudWatch takes in and keeps, and USD a month of both."""
    yield paragraph(
        f"Assumed: {size.working} pods of jobs write {size.per_pod} a day each (`perPodDay`), and {size.others} others "
        f"{OTHERS}: {size.a_day} a day at most, {size.kept} in {size.retention}, without the fields of each line."
    )
    region = subject.spec.region
    taken = service("CloudWatch Logs GB taken in", region)
    kept = service("CloudWatch Logs GB month", region)
    if taken is None or kept is None:
        yield paragraph("The prices of CloudWatch Logs are not known.")
    else:
        monthly = size.a_day.value / _GIB * MONTH / 24 * taken.usd
        yield paragraph(
            f"To take lines in costs at most ${monthly:,.2f} a month, and to keep them at most "
            f"${size.kept.value / _GIB * kept.usd:,.2f}, by the prices of {taken.region}; queries are not counted."
        )
