"""The runtimes of Trainer's releases, as a plan has them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from compiler.catalog.runtimes import released_runtimes
from compiler.lift.reader import reader
from compiler.manifest import Manifest
from compiler.source import Route
from compiler.subjects.jobs.lift import runtime
from compiler.subjects.jobs.plan import Pod, ReplicatedJob, Runtime


def released(name: str, at: Route) -> Runtime | None:
    """A released runtime, with every place in it at the route of what refers to it: its own text is not at hand."""
    found = _lifted(name)
    if found is None:
        return None
    return replace(
        found, at=at, origins={}, jobs=tuple(_job(each, at) for each in found.jobs)
    )


def _job(job: ReplicatedJob, at: Route) -> ReplicatedJob:
    return replace(job, at=at, origins={}, pod=_pod(job.pod, at))


def _pod(pod: Pod, at: Route) -> Pod:
    containers = tuple(replace(each, at=at, origins={}) for each in pod.containers)
    return replace(pod, at=at, origins={}, containers=containers)


@cache
def _lifted(name: str) -> Runtime | None:
    found = released_runtimes().get(name)
    if found is None:
        return None
    nodes = list(runtime(reader(Manifest(dict(found.body)))))
    return next((each for each in nodes if isinstance(each, Runtime)), None)
