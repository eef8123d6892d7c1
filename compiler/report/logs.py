"""What logs are expected to take, and what the bucket costs: assumptions, each named."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog.prices import service
from compiler.platforms.eks.logs.plan import LogSize
from compiler.platforms.eks.logs.sizing import OTHERS
from compiler.report.subject import Subject

_GIB = 2**30


def section(subject: Subject) -> Iterator[str]:
    """The sum of what is written and kept, and USD a month."""
    size = subject.plan.one(LogSize)
    if size is None:
        return
    yield from ("## Logs", "")
    yield (
        f"Assumed: {size.working} pods of jobs write {size.per_pod} a day each (`perPodDay`), and {size.others} others "
        f"{OTHERS}: {size.a_day} a day at most, {size.kept} in {size.retention}, before Loki compresses it."
    )
    yield ""
    price = service("S3 Standard GiB month", subject.spec.region)
    if price is None:
        yield "The price of S3 is not known."
    else:
        usd = size.kept.value / _GIB * price.usd
        yield f"In S3 at most ${usd:,.2f} a month, by the price of {price.region}; requests are not counted."
    yield ""
