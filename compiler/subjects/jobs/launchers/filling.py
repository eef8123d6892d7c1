"""What launchers say of a job themselves, before it is validated."""

from collections.abc import Mapping
from typing import Any

from compiler.subjects.jobs.launchers.nccl_test.acceptance import FILLS

FILLING: Mapping[str, tuple[str, ...]] = {
    "ncclTest": tuple(FILLS),
    "torchtune": ("image", "command"),
}
"""Launchers that say themselves what other jobs must, by their keys, and what that is."""


def filled(job: Any) -> Any:
    """What is written of a job, with what its launcher says."""
    launcher = job.get("launcher") if isinstance(job, dict) else None
    if not isinstance(launcher, dict):
        return job
    if "ncclTest" in launcher:
        job = {**FILLS, **job}
    if "torchtune" in launcher:
        from compiler.subjects.jobs.launchers.torchtune.released import brought

        job = {**brought(launcher["torchtune"]), **job}
    return job
