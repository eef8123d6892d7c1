"""What logs are expected to take, and what the bucket costs: assumptions, each named."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.prices import MONTH, service
from trainyard.extensions.forecast.blocks import Block, Heading, paragraph
from trainyard.extensions.forecast.costs import ALWAYS, Gp3, Item, disk_items, monthly, prices_known
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.observability.logs.plan import LogGroup, LogSize
from trainyard.extensions.observability.logs.sizing import DISK, OTHERS
from trainyard.language.units import Quantity

_GIB = 2**30
_S3 = "S3 Standard GiB month"
_TAKEN, _KEPT = "CloudWatch Logs GB taken in", "CloudWatch Logs GB month"


def section(planned: PlannedCluster) -> Iterator[Block]:
    """What is assumed to be written and kept, and USD a month of it."""
    size = planned.plan.one(LogSize)
    if size is None:
        return
    yield Heading("Logs")
    of_cloud_watch = planned.plan.one(LogGroup) is not None
    without = "without the fields of each line" if of_cloud_watch else "before Loki compresses it"
    yield paragraph(
        f"Assumed: {size.working} pods of jobs write {size.per_pod} a day each (`perPodDay`), and {size.others} others "
        f"{OTHERS}: {size.a_day} a day at most, {size.kept} in {size.retention}, {without}."
    )
    if of_cloud_watch:
        yield paragraph(_of_cloud_watch(planned, size))
    else:
        yield paragraph(_of_loki(planned, size))


def items(planned: PlannedCluster) -> Iterator[Item]:
    """What is paid for lines by the same assumptions, and Loki's volume."""
    size = planned.plan.one(LogSize)
    if size is None:
        return
    if planned.plan.one(LogGroup) is None:
        yield _estimated("logs in S3", f"{size.kept} kept", size.kept, _S3, planned)
        yield disk_items(planned, "volume of Loki", Gp3(DISK), ALWAYS)
    else:
        month = _a_month(size)
        yield _estimated("logs taken in", f"{month} a month by CloudWatch", month, _TAKEN, planned)
        yield _estimated("logs kept", f"{size.kept} by CloudWatch", size.kept, _KEPT, planned)


def _estimated(name: str, what: str, amount: Quantity, unit: str, planned: PlannedCluster) -> Item:
    """Lines that are paid by the month, at most: how many there will be nobody knows."""
    price = service(unit, planned.spec.region)
    return Item(
        name=name,
        what=what,
        least=0,
        most=1,
        usd=monthly(amount.value / _GIB, price),
        how="at most, as assumed in Logs",
        prices=prices_known(price),
    )


def _a_month(size: LogSize) -> Quantity:
    """What is written in a month."""
    return Quantity.gib(round(size.a_day.value / _GIB * MONTH / 24))


def _of_loki(planned: PlannedCluster, size: LogSize) -> str:
    price = service(_S3, planned.spec.region)
    if price is None:
        return "The price of S3 is not known."
    usd = size.kept.value / _GIB * price.usd
    return f"In S3 at most ${usd:,.2f} a month, by the price of {price.region}; requests are not counted."


def _of_cloud_watch(planned: PlannedCluster, size: LogSize) -> str:
    """What CloudWatch takes in and keeps, and USD a month of both."""
    region = planned.spec.region
    taken = service(_TAKEN, region)
    kept = service(_KEPT, region)
    if taken is None or kept is None:
        return "The prices of CloudWatch Logs are not known."
    a_month = _a_month(size).value / _GIB * taken.usd
    return (
        f"To take lines in costs at most ${a_month:,.2f} a month, and to keep them at most "
        f"${size.kept.value / _GIB * kept.usd:,.2f}, by the prices of {taken.region}; queries are not counted."
    )
