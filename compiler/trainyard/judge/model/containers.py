"""The containers of a job's pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trainyard.core.pods.plan import INITIALIZERS, Container
from trainyard.judge.model.amounts import requested
from trainyard.judge.model.exports import exported
from trainyard.judge.model.work import Work


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


def programs_beside(works: Iterable[Work]) -> Iterator[Work]:
    """Each container beside the program of some jobs and those of their initializers, as a job with its program; what
    jobs share, like the containers of their runtime, is yielded with the first of them."""
    seen: set[int] = set()
    for work in works:
        for container in (*beside(work), *_of_initializers(work)):
            if id(container) not in seen:
                seen.add(id(container))
                yield _with(work, container)


def _of_initializers(work: Work) -> Iterator[Container]:
    for part, pod, _ in () if work.role else work.others:
        if part.step in INITIALIZERS:
            yield from pod.all_containers


def _with(work: Work, container: Container) -> Work:
    job = replace(
        work.job,
        at=container.at,
        image=None,
        command=(),
        args=(),
        env=(),
        requests={},
        limits={},
        unread=container.unread,
        origins=container.origins,
    )
    words = (*container.command, *container.args)
    variables = {variable.name: variable.value for variable in container.env}
    return replace(
        work,
        job=job,
        main=container,
        asks=requested(container),
        env={**variables, **exported(words)},
        words=words,
        recipe=None,
        role=container.name,
    )
