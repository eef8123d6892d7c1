"""How long a job runs: what the spec expects, and what that is known from."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from trainyard.core.jobs.plan import CheckpointSchedule, ExpectedLength
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job


class Basis(StrEnum):
    """What the length of a job is known from, the best first."""

    EXPECTED = "expected"
    ESTIMATE = "estimate"
    TIMEOUT = "timeout"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Length:
    """How long a job runs if nothing stops it, in seconds; ``None`` until somebody ends it.

    ``least`` differs from ``seconds`` where it is an estimate, which is a range. ``schedule``: its checkpoints, where
    the spec has them. ``at``: where the spec says the length, if it does.
    """

    basis: Basis
    seconds: int | None = None
    least: int | None = None
    schedule: CheckpointSchedule | None = None
    at: Route | None = None

    @property
    def every(self) -> int | None:
        """The seconds from one checkpoint to the next, where the spec says them."""
        return None if self.schedule is None else self.schedule.every

    @property
    def read(self) -> float:
        """The seconds that reading a checkpoint takes; 0 where that is not known."""
        if self.schedule is None:
            return 0
        return self.schedule.read or 0


def expected_length(job: Job) -> ExpectedLength | None:
    """What the spec expects of a job; ``None`` where it says nothing."""
    expected = job.spec.expected
    if expected is None:
        return None
    return ExpectedLength(
        at=job.at,
        name=job.spec.name,
        namespace=job.namespace,
        seconds=expected.seconds,
        origins={"seconds": job.at / "expected"},
    )
