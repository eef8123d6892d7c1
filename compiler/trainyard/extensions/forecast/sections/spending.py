"""Whom the nodes are paid for: what each job costs, and what each queue may spend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.catalog.prices import MONTH
from trainyard.core.jobs.plan import Gang
from trainyard.core.queues.spec import PoolQuota, Queue, QueuesSection
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
from trainyard.extensions.forecast.costs import Item
from trainyard.extensions.forecast.platforms import costs_of
from trainyard.extensions.forecast.sections.cost import number
from trainyard.extensions.forecast.subject import Subject
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import numbered
from trainyard.language.units import Duration

_HOUR = 3600
_JOBS = ("job", "queue", "nodes:", "USD an hour:", "ends after", "USD until then, at most:")
_QUEUES = ("queue", "namespaces", "quota:", "USD an hour:", "USD a month:")


@dataclass(frozen=True, slots=True)
class JobCost:
    """The nodes of a job, on any of its pools: USD an hour, by the dearest; ``None`` where a price is not known."""

    job: Gang
    items: tuple[Item, ...]
    exact: bool

    @property
    def usd_hour(self) -> float | None:
        """USD an hour of all of its nodes."""
        return _dearest(self.items, self.job.whole_nodes)


def by_job(subject: Subject) -> Iterator[JobCost]:
    """What each job costs, in the price of its nodes alone."""
    nodes = _nodes(subject)
    for job in subject.plan.of(Gang):
        items = tuple(nodes[pool] for pool in (job.pool, *job.fallbacks) if pool in nodes)
        yield JobCost(job, items, _is_exact(subject, items))


@dataclass(frozen=True, slots=True)
class QueueCost:
    """What a queue may spend when all of its quota is used: USD an hour, ``None`` where a price is not known."""

    queue: Queue
    usd_hour: float | None
    exact: bool


def by_queue(subject: Subject) -> Iterator[QueueCost]:
    """What each queue of the spec may spend, in the price of its nodes alone."""
    nodes = _nodes(subject)
    for queue in QueuesSection.of(subject.spec).queues:
        items = [nodes[quota.pool] for quota in queue.quota if quota.pool in nodes]
        yield QueueCost(queue, _sum(queue.quota, nodes), _is_exact(subject, items))


def _nodes(subject: Subject) -> Mapping[str, Item]:
    items = costs_of(subject)
    return {item.name: item for item in items if item.node}


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job, then one for each queue, in the price of their nodes alone."""
    costs = list(by_job(subject))
    if not costs:
        return
    yield Heading("Cost by job and queue")
    yield paragraph(
        "Of nodes alone, the dearest that a job may get. What is reserved or a Capacity Block is paid whether its "
        "jobs run or not."
    )
    yield table(_JOBS, (_job_row(subject, each) for each in costs))
    queues = list(by_queue(subject))
    if queues:
        yield paragraph("When all of the quota is used, all the time:")
        yield table(_QUEUES, map(_queue_row, queues))


def _job_row(subject: Subject, cost: JobCost) -> tuple[Text, ...]:
    job, exact, an_hour = cost.job, cost.exact, cost.usd_hour
    shown = (
        job.source_name,
        subject.queue_of(job),
        str(job.whole_nodes),
        _explained(an_hour, _dearest_of(cost.items, job.whole_nodes), exact=exact),
    )
    if job.deadline is None:
        return *shown, "no limit", ""
    until_then = None if an_hour is None else an_hour * job.deadline / _HOUR
    ends = Duration(job.deadline)
    return *shown, str(ends), _explained(until_then, f"USD an hour × {ends}", exact=exact)


def _dearest(items: Sequence[Item], count: int) -> float | None:
    """USD an hour of so many nodes; ``None`` where one of the prices is not known."""
    prices = [item.usd for item in items]
    known = [usd for usd in prices if usd is not None]
    if not known or len(known) < len(prices):
        return None
    return count * max(known)


def _dearest_of(items: Sequence[Item], count: int) -> str:
    prices = ", ".join(f"${item.usd:,.4f} in pool {item.name}" for item in items if item.usd)
    return f"{numbered(count, 'node')} × the dearest of {prices} an hour"


def _queue_row(cost: QueueCost) -> tuple[Text, ...]:
    queue, an_hour, exact = cost.queue, cost.usd_hour, cost.exact
    a_month = None if an_hour is None else an_hour * MONTH
    return (
        queue.name,
        ", ".join(queue.namespaces),
        ", ".join(f"{quota.nodes} of {quota.pool}" for quota in queue.quota),
        _explained(an_hour, "each node of the quota × the price of its pool", exact=exact),
        _explained(a_month, f"USD an hour × {MONTH} hours", exact=exact),
    )


def _sum(quotas: Iterable[PoolQuota], nodes: Mapping[str, Item]) -> float | None:
    """USD an hour of a queue's quotas; ``None`` where a price is not known."""
    total = 0.0
    for quota in quotas:
        item = nodes.get(quota.pool)
        if item is None or item.usd is None:
            return None
        total += quota.nodes * item.usd
    return total


def _is_exact(subject: Subject, items: Sequence[Item]) -> bool:
    return all(item.is_exact(subject.spec.region) for item in items)


def _explained(amount: float | None, why: str, *, exact: bool) -> Text:
    if amount is None:
        return Explained("?", "the price of a pool is not known")
    return Explained(number(amount, exact=exact), why)
