"""When the jobs of a cluster start and end if all are submitted at once, and what stands idle until then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
from trainyard.extensions.forecast.platforms import costs_of
from trainyard.extensions.forecast.sections.cost import number
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.forecast.timeline.course import Course, PoolUse, Timeline
from trainyard.extensions.forecast.timeline.outlook import outlook
from trainyard.extensions.forecast.timeline.shown import Paid, details, how_long, span, summary
from trainyard.judge.model.lengths import lengths

_JOBS = ("job", "starts", "ends", "and between")
_POOLS = ("pool", "paid node hours:", "idle node hours:", "USD of idle nodes:")
_UNKNOWN = "?"


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job, and one for each pool that is paid for whether it is used or not."""
    found = simulated(subject)
    if found is not None and found.courses:
        yield from blocks(subject, found)


def simulated(subject: Subject) -> Timeline | None:
    """The timeline of a cluster; ``None`` where no job of a queue has a known end, or there are very many."""
    reading = subject.reading
    if not any(work.queued for work in reading.works):
        return None
    if all(each.seconds is None for each in reading.once(lengths).values()):
        return None
    return reading.once(outlook)


def blocks(subject: Subject, found: Timeline) -> Iterator[Block]:
    """What a timeline says, as tables."""
    yield Heading("Timeline")
    yield paragraph(
        f"If all jobs are submitted at once: {summary(found)}. `trainyard simulate --timeline` draws it."
    )
    yield table(_JOBS, map(_job, found.courses))
    paid = paid_of(subject)
    pools = [_pool(use, paid[use.pool], found.horizon) for use in found.pools if use.pool in paid]
    idle = [row for row in pools if row]
    if idle:
        yield paragraph("What is paid for until then, whether it is used or not:")
        yield table(_POOLS, idle)


def paid_of(subject: Subject) -> Mapping[str, Paid]:
    """What is paid for each pool whether its nodes are used or not: those always on, and all of a block."""
    found = {}
    for item in costs_of(subject):
        if item.node:
            nodes = item.most if item.block is not None else item.least
            exact = item.is_exact(subject.spec.region)
            found[item.name] = Paid(nodes, item.usd, exact)
    return found


def _job(course: Course) -> tuple[Text, ...]:
    return (course.job, _start(course), _end(course), "; ".join(details(course)))


def _start(course: Course) -> Text:
    if course.start is None:
        return "never"
    after = course.attempts[0].after
    if not after:
        return span(course.start)
    names = ", ".join(f"`{name}`" for name in after)
    return Explained(span(course.start), f"its nodes are free after {names}")


def _end(course: Course) -> Text:
    if course.end is not None:
        return Explained(span(course.end), how_long(course.length))
    if course.start is None:
        return ""
    return "is not known" if course.length.seconds is None else "does not"


def _pool(use: PoolUse, paid: Paid, horizon: int) -> tuple[Text, ...]:
    """The idle nodes of a pool; nothing where none is paid for."""
    total = use.paid(paid.nodes, horizon)
    if not total:
        return ()
    idle = use.idle(paid.nodes, horizon)
    nodes = f"{paid.nodes} nodes that are paid for"
    usd: Text = _UNKNOWN
    if paid.usd is not None:
        amount = number(idle * paid.usd, exact=paid.exact)
        usd = Explained(amount, f"idle node hours × ${paid.usd:,.4f}")
    return (
        use.pool,
        Explained(
            f"{total:,.1f}", f"{nodes} × {span(horizon)}, or less where a block opens or closes"
        ),
        Explained(f"{idle:,.1f}", f"of {nodes}, those on which no job runs, over the same time"),
        usd,
    )
