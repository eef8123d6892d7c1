"""The names of accounts."""

from __future__ import annotations

from compiler.context import Context
from compiler.core.pools.pools import Pool
from compiler.core.queues.queues import Queue
from compiler.platforms.parallelcluster.settings.spec import ClusterSection


def account_of(context: Context, queue: Queue, pool: Pool) -> str | None:
    """The account by which jobs of a queue run on a pool; ``None`` without accounting."""
    if ClusterSection.of(context.spec).own.accounting is None:
        return None
    if len(queue.quota) == 1:
        return queue.name
    return f"{queue.name}-{pool.name}"
