"""What each queue has, in whole nodes, next to what its jobs ask for."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.core.queues.spec import PoolQuota, Queue, QueuesSection
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
from trainyard.extensions.forecast.subject import Subject
from trainyard.language.dataclass import dataclass


def section(subject: Subject) -> Iterator[Block]:
    """A line for each pool of each queue."""
    yield Heading("Queues")
    yield paragraph("In nodes. Jobs that ask for more than the quota wait for each other.")
    yield table(
        ("queue", "pool", "quota:", "may borrow:", "jobs ask:", "largest job:", "at once"),
        map(_row, shares(subject)),
    )


@dataclass(frozen=True, slots=True)
class Share:
    """What a queue has of a pool, in nodes, and the jobs that ask for it. ``lent``: why it may borrow so much."""

    queue: str
    pool: str
    quota: int
    borrows: int
    lent: str
    jobs: tuple[Gang, ...]

    @property
    def asked(self) -> int:
        """Nodes that all jobs ask for."""
        return sum(job.whole_nodes for job in self.jobs)

    @property
    def largest(self) -> int:
        """Nodes of the largest job."""
        return max((job.whole_nodes for job in self.jobs), default=0)

    @property
    def at_once(self) -> str:
        """Whether the jobs fit at once, in words; empty where they do."""
        most = self.quota + self.borrows
        if self.largest > most:
            return "the largest job never starts"
        if self.asked > most:
            return f"{self.asked - most} wait"
        return ""


def shares(subject: Subject) -> Iterator[Share]:
    """What each queue has of each pool; without queues, every pool has one."""
    jobs = subject.jobs()
    queues = QueuesSection.of(subject.spec).queues
    for queue in queues:
        for quota in queue.quota:
            yield Share(
                queue.name,
                quota.pool,
                quota.nodes,
                _borrows(subject, queue, quota),
                _lent(queue, quota),
                tuple(jobs.get((queue.name, quota.pool), ())),
            )
    if queues:
        return
    for pool in subject.pools():
        waiting = tuple(jobs.get((pool.name, pool.name), ()))
        yield Share(pool.name, pool.name, pool.nodes.max, 0, "there is one queue a pool", waiting)


def _row(share: Share) -> tuple[Text, ...]:
    each = ", ".join(f"{job.source_name} {job.whole_nodes}" for job in share.jobs)
    asking = each or "no job is here"
    return (
        share.queue,
        share.pool,
        Explained(str(share.quota), "as the spec says"),
        Explained(str(share.borrows), share.lent),
        Explained(str(share.asked), asking),
        Explained(str(share.largest), asking),
        share.at_once,
    )


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
