"""What Kueue does with an admitted job whose pods do not become ready: it loses its quota, and comes back later.

Source: Kueue 0.19.2, pkg/controller/core/workload_controller.go (reconcileNotReadyTimeout, triggerDeactivation),
pkg/workload/workload.go (UpdateRequeueState) and apis/config/v1beta2/defaults.go.
"""

from __future__ import annotations

from heapq import heappop, heappush

from trainyard.eks.kueue.plan import QueueManager
from trainyard.language.dataclass import dataclass
from trainyard.plan import Plan

_TIMEOUT = 30 * 60
_BASE = 60
_MOST = 3600


@dataclass(frozen=True, slots=True)
class PodsReady:
    """``waitForPodsReady`` of Kueue's configuration, in seconds.

    After ``timeout`` without ready pods a job is evicted, and may be admitted again after ``base``, twice that the next
    time, and so on up to an hour. After ``limit`` such evictions the next one deactivates it; ``None``: never.
    """

    timeout: int
    limit: int | None
    base: int = _BASE

    def backoff(self, evictions: int) -> int:
        """How long a job is not looked at after so many evictions. Kueue adds a ten-thousandth at random."""
        wait = self.base
        for _ in range(1, evictions):
            wait = min(2 * wait, _MOST)
        return wait

    def patience(self) -> int | None:
        """After how long a job is deactivated whose nodes never come, if it is always admitted at once."""
        if self.limit is None:
            return None
        backoffs = sum(self.backoff(count) for count in range(1, self.limit + 1))
        return self.timeout * (self.limit + 1) + backoffs


def pods_ready(plan: Plan) -> PodsReady | None:
    """What a plan's queue manager is configured with; ``None`` where it has none."""
    manager = plan.one(QueueManager)
    if manager is None:
        return None
    timeout = manager.pods_ready.seconds if manager.pods_ready is not None else _TIMEOUT
    base = manager.requeue_backoff.seconds if manager.requeue_backoff is not None else _BASE
    return PodsReady(timeout, manager.requeue_limit, base)


class Waits:
    """The jobs that have quota and no nodes, and those that were evicted for it, with the moments that they wait for.

    ``evicted`` are the moments of a job's evictions, and ``deactivated`` that at which it was given up.
    """

    def __init__(self, ready: PodsReady | None) -> None:
        self._ready = ready
        self._due: list[tuple[int, str]] = []
        self._moments: dict[str, int] = {}
        self.evicted: dict[str, list[int]] = {}
        self.deactivated: dict[str, int] = {}
        self._in_vain = 0

    def started(self) -> None:
        """A job runs, so that others may find that there is room."""
        self._in_vain = 0

    def begin(self, key: str, now: int) -> None:
        """A job was admitted, and has no nodes."""
        if self._ready is not None:
            self._wait(key, now + self._ready.timeout)

    def end(self, key: str) -> None:
        """A job has nodes, or has lost its quota otherwise."""
        self._moments.pop(key, None)

    def evict(self, key: str, now: int) -> bool:
        """A job is evicted; whether it comes back."""
        assert self._ready is not None
        before = self.evicted.setdefault(key, [])
        self._in_vain += 1
        if self._ready.limit is not None and len(before) >= self._ready.limit:
            self.deactivated[key] = now
            return False
        before.append(now)
        self._wait(key, now + self._ready.backoff(len(before)))
        return True

    def _wait(self, key: str, until: int) -> None:
        self._moments[key] = until
        heappush(self._due, (until, key))

    def next(self) -> int | None:
        """When the next job is evicted, or comes back."""
        while self._due:
            moment, key = self._due[0]
            if self._moments.get(key) == moment:
                return moment
            heappop(self._due)
        return None

    def due(self, now: int) -> list[str]:
        """The jobs whose moment has come."""
        found = []
        while self.next() == now:
            _, key = heappop(self._due)
            del self._moments[key]
            found.append(key)
        return found

    @property
    def is_in_vain(self) -> bool:
        """Whether jobs are evicted without an end, and each was twice since any has started."""
        is_endless = self._ready is not None and self._ready.limit is None
        return is_endless and self._in_vain > 2 * len(self.evicted)
