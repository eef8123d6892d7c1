"""What a timeline says: the course of each job, and how many nodes of each pool are in use when."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from trainyard.core.jobs.length import Length
from trainyard.language.dataclass import dataclass


class Ending(StrEnum):
    """How an attempt ends."""

    DONE = "done"
    PREEMPTED = "preempted"
    CLOSED = "block ends"
    OPEN = "until somebody ends it"


class Share(NamedTuple):
    """So many nodes of a pool."""

    pool: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One time that a job runs, in seconds from the beginning; ``end`` is ``None`` for one that nothing ends.

    ``shares``: the nodes that it runs on. ``by``: the job that preempts it, or the pool that closes. ``lost``: the
    seconds of its work that are repeated. ``saved``: when its last checkpoint before its end was taken, where it is
    known. ``after``: the jobs whose end, and the pools whose opening, let it in.
    """

    start: int
    end: int | None
    ending: Ending
    shares: tuple[Share, ...]
    by: str = ""
    lost: int = 0
    saved: int | None = None
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Course:
    """What becomes of a job.

    ``behind``: of one that does not run, or not to its end, the jobs that it waits for in the end. ``reason``: why it
    never runs, where that is another one. ``never_fits``: it would not be admitted even if no other job were there.
    ``evicted``: when Kueue took its quota back, since its nodes did not come in time; ``deactivated``: when it gave it
    up.
    """

    job: str
    key: str
    queue: str
    length: Length
    attempts: tuple[Attempt, ...]
    behind: tuple[str, ...] = ()
    reason: str = ""
    never_fits: bool = False
    evicted: tuple[int, ...] = ()
    deactivated: int | None = None

    @property
    def start(self) -> int | None:
        """When it runs first."""
        return self.attempts[0].start if self.attempts else None

    @property
    def end(self) -> int | None:
        """When it has done its work; ``None`` if it never has."""
        if self.is_done:
            return self.attempts[-1].end
        return None

    @property
    def is_done(self) -> bool:
        """Whether it does all of its work."""
        return bool(self.attempts) and self.attempts[-1].ending is Ending.DONE


@dataclass(frozen=True, slots=True)
class PoolUse:
    """How many of a pool's nodes are in use: from each moment on, in seconds from the beginning, so many.

    ``opens`` and ``closes``: when its nodes exist; ``closes`` is ``None`` without an end.
    """

    pool: str
    nodes: int
    steps: tuple[tuple[int, int], ...]
    opens: int = 0
    closes: int | None = None

    def idle(self, paid: int, horizon: int) -> float:
        """Node hours until a moment of ``paid`` nodes that no job uses."""
        last = horizon if self.closes is None else min(horizon, self.closes)
        first = max(self.opens, 0)
        moments = [*(moment for moment, _ in self.steps), last]
        seconds = 0
        for index, (moment, used) in enumerate(self.steps):
            begin, end = max(moment, first), min(moments[index + 1], last)
            if end > begin:
                seconds += max(paid - used, 0) * (end - begin)
        return seconds / 3600

    def paid(self, paid: int, horizon: int) -> float:
        """Node hours until a moment of ``paid`` nodes while the pool exists."""
        last = horizon if self.closes is None else min(horizon, self.closes)
        return max(last - max(self.opens, 0), 0) * paid / 3600


@dataclass(frozen=True, slots=True)
class Timeline:
    """The courses of all jobs of a cluster in the order of the spec, and the use of its pools.

    ``origin``: the second since 1970 at which it begins, where a Capacity Block or the user says it. ``horizon``: when
    the last job ends of those that end. ``left_out``: jobs that are not simulated, with the reason.
    """

    cluster: str
    origin: int | None
    courses: tuple[Course, ...]
    pools: tuple[PoolUse, ...]
    horizon: int
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    settled: bool = True
