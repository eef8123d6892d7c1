"""The names of accounts."""

from __future__ import annotations

from trainyard.core.pools.pools import Pool
from trainyard.core.queues.queues import Queue
from trainyard.extensions.parallelcluster.settings.spec import ClusterSection
from trainyard.plan.context import Context


def account_of(context: Context, queue: Queue, pool: Pool) -> str | None:
    """The account by which jobs of a queue run on a pool; ``None`` without accounting."""
    if ClusterSection.of(context.spec).own.accounting is None:
        return None
    if len(queue.quota) == 1:
        return queue.name
    return f"{queue.name}-{pool.name}"
