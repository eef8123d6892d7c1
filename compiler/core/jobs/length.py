"""How long a job is expected to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compiler.core.jobs.plan import ExpectedLength

if TYPE_CHECKING:
    from compiler.core.jobs.job import Job


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
