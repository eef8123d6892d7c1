"""The containers of a job's pod."""

from __future__ import annotations

from compiler.core.pods.plan import Container
from compiler.model.work import Work


def beside(work: Work) -> list[Container]:
    """Those other than the program's: what runs beside it, then init containers."""
    if work.pod is None:
        return []
    others = [container for container in work.pod.containers if container is not work.main]
    return [*others, *work.pod.init_containers]


def with_images(work: Work) -> list[Work | Container]:
    """What names an image: the job itself, or else the program's container, and those beside it."""
    main = work if work.image or work.main is None else work.main
    return [main, *beside(work)]
