"""What EKS Auto Mode does not let a job do."""

from __future__ import annotations

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.plan.units import Duration
from compiler.platforms.eks.settings.spec import ClusterSection


def check_life(context: Context, job: Job) -> None:
    """A node of EKS Auto Mode ends at its age, whatever runs on it."""
    auto = ClusterSection.of(context.spec).auto_mode
    timeout = job.spec.timeout
    if auto is None or timeout is None:
        return
    seconds = auto.expire_after.seconds + auto.grace.seconds
    whole = Duration(seconds)
    if timeout > whole:
        context.fault(
            "RES192",
            f"job `{job.spec.name}` may take {timeout}, "
            f"and a node of EKS Auto Mode lives {whole} at most",
            job.at / "timeout",
            f"write at most `{auto.grace}`, for which every node waits, and let the next job "
            "resume; or remove `autoMode`",
            source="EKS user guide, auto-security: maximum lifetime of 21 days",
        )
