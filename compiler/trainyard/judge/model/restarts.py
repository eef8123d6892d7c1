"""How often a job is started again."""

from __future__ import annotations

from trainyard.judge.model.kinds import counts_pods, has_peers
from trainyard.judge.model.work import Work


def restarts_of(work: Work) -> int | None:
    """How often all of a job is started again, or each of its pods where they do not talk; ``None`` is unknown."""
    if not work.has_pods:
        return work.job.retries
    if work.runtime is None:
        return None
    if not has_peers(work.kind):
        main = work.runtime.trainer() or work.runtime.jobs[0]
        return main.backoff_limit
    restarts = work.runtime.max_restarts or 0
    if counts_pods(work.kind):
        return restarts // (work.nodes or 1)
    return restarts
