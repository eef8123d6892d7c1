"""Numbers as bars, each with its name and its value in words beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trainyard.extensions.forecast.costs import Item
from trainyard.extensions.forecast.sections.cost import usd
from trainyard.extensions.forecast.sections.spending import JobCost
from trainyard.extensions.forecast.timeline.course import Course, Timeline
from trainyard.extensions.forecast.timeline.shown import bounds
from trainyard.extensions.review.report.queues import Share
from trainyard.language.diagnostics.words import numbered

_SEEN = 0.4  # percent: a shorter part would not be seen


class Part(NamedTuple):
    """A part of a bar: its class, and where it starts and ends, in percent of the longest bar."""

    kind: str
    start: float
    length: float


class Bar(NamedTuple):
    """A bar, and what it says in words."""

    name: str
    words: str
    parts: tuple[Part, ...]


class Chart(NamedTuple):
    """Bars of one scale, with a title and what each kind of part means."""

    title: str
    legend: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]


def cost_of_items(items: Sequence[Item], region: str) -> Chart:
    """USD an hour of what is paid for, the dearest first; what has no price is left out."""
    priced = sorted((item for item in items if item.at_most), key=lambda item: -item.at_most)
    longest = max((item.at_most for item in priced), default=1.0)
    bars = (_cost(item, longest, exact=item.is_exact(region)) for item in priced)
    legend = (("always", "always paid"), ("at-most", "at most, while jobs run"))
    return Chart("USD an hour", legend, tuple(bars))


def _cost(item: Item, longest: float, *, exact: bool) -> Bar:
    always = usd(item.always, exact=exact)
    at_most = usd(item.at_most, exact=exact)
    parts = _parts([("always", item.always), ("at-most", item.at_most - item.always)], longest)
    return Bar(item.name, f"{always} always, {at_most} at most", tuple(parts))


def cost_of_jobs(costs: Sequence[JobCost]) -> Chart:
    """USD an hour of each job's nodes, the dearest first; a job without a price is left out."""
    priced = [(each, each.usd_hour) for each in costs]
    known = sorted(((amount, each) for each, amount in priced if amount), key=lambda pair: -pair[0])
    longest = known[0][0] if known else 1.0
    bars = tuple(_job(each, amount, longest) for amount, each in known)
    return Chart("USD an hour of the nodes of each job", (), bars)


def _job(cost: JobCost, amount: float, longest: float) -> Bar:
    words = f"{usd(amount, exact=cost.exact)}, {numbered(cost.job.whole_nodes, 'node')}"
    return Bar(cost.job.source_name, words, tuple(_parts([("always", amount)], longest)))


def quotas(shares: Sequence[Share]) -> Chart:
    """Nodes that the jobs of each queue ask of a pool, beside what it has."""
    longest = max((max(share.quota + share.borrows, share.asked) for share in shares), default=1)
    legend = (
        ("asked", "asked for, within quota"),
        ("borrowed", "asked for, beyond its own quota"),
        ("waiting", "asked for, beyond what it may have"),
        ("unused", "quota that no job asks for"),
        ("lendable", "may be borrowed"),
    )
    bars = tuple(_quota(share, longest or 1) for share in shares)
    used = {part.kind for bar in bars for part in bar.parts}
    shown = tuple(each for each in legend if each[0] in used)
    return Chart("Nodes that jobs ask for, of their queue's quota", shown, bars)


def _quota(share: Share, longest: int) -> Bar:
    most = share.quota + share.borrows
    within = min(share.asked, share.quota)
    beyond = min(max(share.asked - share.quota, 0), share.borrows)
    waiting = max(share.asked - most, 0)
    amounts = [
        ("asked", within),
        ("unused", share.quota - within),
        ("borrowed", beyond),
        ("lendable", share.borrows - beyond),
        ("waiting", waiting),
    ]
    words = f"{share.asked} of {share.quota} nodes"
    if share.borrows:
        words = f"{words}, may borrow {share.borrows}"
    if share.at_once:
        words = f"{words}: {share.at_once}"
    name = share.queue if share.queue == share.pool else f"{share.queue}, of {share.pool}"
    return Bar(name, words, tuple(_parts(amounts, longest)))


def courses(timeline: Timeline) -> Chart:
    """Where each job waits and runs, from the beginning to the last known end."""
    title = "From the beginning to the last known end"
    if not timeline.horizon:
        return Chart(title, (), ())
    legend = (("asked", "runs"), ("waiting", "waits"))
    bars = tuple(_course(each, timeline.horizon) for each in timeline.courses)
    return Chart(title, legend, bars)


def _course(course: Course, horizon: int) -> Bar:
    amounts: list[tuple[str, float]] = []
    last = 0
    for attempt in course.attempts:
        end = horizon if attempt.end is None else attempt.end
        amounts += [("waiting", attempt.start - last), ("asked", end - attempt.start)]
        last = end
    if course.end is None:
        amounts.append(("waiting", horizon - last))
    return Bar(course.job, bounds(course), tuple(_parts(amounts, horizon)))


def _parts(amounts: Iterable[tuple[str, float]], longest: float) -> Iterator[Part]:
    """The parts of a bar, one after the other; empty ones are left out."""
    start = 0.0
    for kind, amount in amounts:
        length = max(100 * amount / longest, _SEEN) if amount > 0 else 0.0
        if length:
            yield Part(kind, round(start, 2), round(length, 2))
        start += length
