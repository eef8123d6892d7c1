"""Values that launchers and released runtimes fill into a job before it is validated."""

from collections.abc import Mapping
from typing import Any

from trainyard.catalog.runtimes import image_of
from trainyard.core.jobs.launchers.nccl_test.acceptance import FILLS
from trainyard.core.jobs.launchers.torchtune.released import brought

FILLING: Mapping[str, tuple[str, ...]] = {
    "ncclTest": tuple(FILLS),
    "torchtune": ("image", "command"),
}
"""Launchers that say themselves what other jobs must, by their keys, and what that is."""
OF_RUNTIME = ("image",)
"""What a released runtime says of a job."""


def filled(job: Any) -> Any:
    """What is written of a job, with what its launcher and its runtime say."""
    if not isinstance(job, dict):
        return job
    if isinstance(job.get("runtime"), str):
        image = image_of(job["runtime"])
        if image is not None:
            job = {"image": image, **job}
    launcher = job.get("launcher")
    if not isinstance(launcher, dict):
        return job
    if "ncclTest" in launcher:
        job = {**FILLS, **job}
    if "torchtune" in launcher:
        job = {**brought(launcher["torchtune"]), **job}
    return job
