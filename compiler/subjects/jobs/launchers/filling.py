"""What launchers say of a job themselves, before it is validated."""

from collections.abc import Mapping
from typing import Any

from compiler.subjects.jobs.launchers.nccl_test.acceptance import FILLS

FILLING: Mapping[str, Mapping[str, Any]] = {"ncclTest": FILLS}
"""Launchers that say themselves what other jobs must, by their keys."""


def filled(job: Any) -> Any:
    """What is written of a job, with what its launcher says."""
    launcher = job.get("launcher") if isinstance(job, dict) else None
    if not isinstance(launcher, dict):
        return job
    for key in launcher.keys() & FILLING.keys():
        job = {**FILLING[key], **job}
    return job
