"""What each queue has, in whole nodes, next to what its jobs ask for."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.core.jobs.plan import Gang
from compiler.core.queues.spec import PoolQuota, Queue, QueuesSection
from compiler.report.blocks import Block, Explained, Heading, Text, paragraph, table
from compiler.report.subject import Subject


def section(subject: Subject) -> Iterator[Block]:
    """A line for each pool of each queue."""
    rows = list(_rows(subject))
    if not rows:
        return
    yield Heading("Queues")
    yield paragraph("In nodes. Jobs that ask for more than the quota wait for each other.")
    yield table(
        ("queue", "pool", "quota:", "may borrow:", "jobs ask:", "largest job:", "at once"), rows
    )


def _rows(subject: Subject) -> Iterator[tuple[Text, ...]]:
    jobs = subject.jobs()
    queues = QueuesSection.of(subject.spec).queues
    for queue in queues:
        for quota in queue.quota:
            borrows = _borrows(subject, queue, quota)
            waiting = jobs.get((queue.name, quota.pool), [])
            asked = _demand(waiting, quota.nodes + borrows)
            nodes = Explained(str(quota.nodes), f"`quota` of queue {queue.name} in the spec")
            borrowed = Explained(str(borrows), _lent(queue, quota))
            yield queue.name, quota.pool, nodes, borrowed, *asked
    if queues:
        return
    for pool in subject.pools():
        waiting = jobs.get((pool.name, pool.name), [])
        most = pool.nodes.max
        asked = _demand(waiting, most)
        yield pool.name, pool.name, str(most), "0", *asked


def _lent(queue: Queue, quota: PoolQuota) -> str:
    """Why a queue may borrow so much."""
    if queue.cohort is None:
        return "the queue is in no cohort, so nobody lends to it"
    limit = ""
    if quota.borrowing_limit is not None:
        limit = f", at most its `borrowingLimit` of {quota.borrowing_limit}"
    return f"what the other queues of cohort {queue.cohort} lend of pool {quota.pool}{limit}"


def _borrows(subject: Subject, queue: Queue, quota: PoolQuota) -> int:
    """Nodes of a pool that a queue may get from its cohort, which are no more than the others lend."""
    if queue.cohort is None:
        return 0
    others = [
        other
        for other in QueuesSection.of(subject.spec).queues
        if other is not queue and other.cohort == queue.cohort
    ]
    lent = (_lends(other, quota.pool) for other in others)
    lendable = sum(lent)
    if quota.borrowing_limit is None:
        return lendable
    return min(quota.borrowing_limit, lendable)


def _lends(queue: Queue, pool: str) -> int:
    """Nodes of a pool that a queue lends at most."""
    nodes = 0
    for quota in queue.quota:
        if quota.pool == pool:
            limit = quota.lending_limit
            nodes += quota.nodes if limit is None else limit
    return nodes


def _demand(jobs: list[Gang], most: int) -> tuple[Text, Text, str]:
    """Nodes that the jobs ask in all and at most, and a word on whether they fit at once."""
    nodes = [job.whole_nodes for job in jobs]
    total = sum(nodes)
    largest = max(nodes, default=0)
    word = ""
    if largest > most:
        word = "the largest job never starts"
    elif total > most:
        word = f"{total - most} wait"
    each = ", ".join(f"{job.source_name} {job.whole_nodes}" for job in jobs) or "no job is here"
    return Explained(str(total), each), Explained(str(largest), each), word
