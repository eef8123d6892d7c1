"""Roles of a job: pods beside its own that run another program, as JobSets have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.core.pods.plan import Container
from trainyard.judge.model.amounts import requested
from trainyard.judge.model.exports import exported
from trainyard.judge.model.pods import main_container
from trainyard.judge.model.work import Work


def roles_of(work: Work) -> Iterator[Work]:
    """Each role, as a job with its program. What is a step of the job (an initializer, a launcher, a head) is none."""
    if work.runtime is None or work.main is None or len(work.runtime.jobs) < 2:
        return
    own = _program(work.main)
    of_image = {} if work.recipe is None else dict(work.recipe.env)
    for part, pod, _ in work.others:
        main = pod.container(work.main.name) or main_container(pod)
        if part.step is not None or main is None or _program(main) == own:
            continue
        job = replace(work.job, at=part.at, image=None, command=(), args=(), env=())
        words = (*main.command, *main.args)
        variables = {variable.name: variable.value for variable in main.env}
        yield replace(
            work,
            job=job,
            pod=pod,
            main=main,
            asks={**requested(main), **work.asks},
            nodes=part.nodes,
            env={**of_image, **variables, **exported(words)},
            words=words,
            role=part.name,
        )


def _program(container: Container) -> tuple[object, ...]:
    return container.command, container.args, container.env
