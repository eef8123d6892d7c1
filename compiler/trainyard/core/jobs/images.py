"""What a job runs: a reference, or the name of an image that an extension builds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainyard.core.jobs.spec import Job
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Route
from trainyard.plan.context import Context
from trainyard.plan.features import parts

if TYPE_CHECKING:
    from trainyard.core.pools.pools import Pool

__all__ = ["Use", "is_name", "unknown", "with_images"]


@dataclass(frozen=True, slots=True)
class Use:
    """A job with references in the place of names of images; whether it ``waits`` for the first build of any of them;
    the PyTorch in its image, where that is known, and the user of its programs, by number."""

    job: Job
    waits: bool = False
    torch: str | None = None
    user: int | None = None


def with_images(context: Context, job: Job, pool: Pool, at: Route) -> Use:
    """What a job runs, by the feature that makes images (its module ``in_jobs``); where there is none, each must be a
    reference."""
    makers = parts("in_jobs", context.platform.features)
    if makers:
        use: Use = makers[0].with_images(context, job, pool, at)
        return use
    places = [(job.image, at / "image")]
    for index, init in enumerate(job.init_containers):
        if init.image is not None:
            places.append((init.image, at / "initContainers" / index / "image"))
    for image, place in places:
        if is_name(image):
            unknown(context, image, (), place)
    return Use(job)


def is_name(image: str) -> bool:
    """Whether the image of a job is a name: every reference has a tag or a digest."""
    return ":" not in image and "@" not in image


def unknown(context: Context, name: str, known: Iterable[str], at: Route) -> None:
    """Report a name of no image."""
    help = name_meant(name, known)
    if not help:
        help = f"pin it, like `{name}:1.0`, or declare an image of this name under `images:`"
    context.fault(
        "RES140",
        f"image `{name}` has neither tag nor digest, and none under `images:` is called so",
        at,
        help,
    )
