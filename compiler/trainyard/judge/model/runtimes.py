"""The runtimes that Trainer's releases bring, as nodes of a plan."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from trainyard.catalog.runtimes import released_runtimes
from trainyard.core.pods.plan import Pod, ReplicatedJob
from trainyard.eks.jobs.lift import runtime as lift_runtime
from trainyard.eks.jobs.plan import Runtime
from trainyard.language.places import Route
from trainyard.lift.reader import reader
from trainyard.output.manifest import Manifest


def released_runtime(name: str, at: Route) -> Runtime | None:
    """A released runtime, with every place in it at the route of what refers to it: its own text is not at hand."""
    runtime = _lift_released(name)
    if runtime is None:
        return None
    jobs = [_job(job, at) for job in runtime.jobs]
    return replace(runtime, at=at, origins={}, jobs=tuple(jobs))


def _job(job: ReplicatedJob, at: Route) -> ReplicatedJob:
    return replace(job, at=at, origins={}, pod=_pod(job.pod, at))


def _pod(pod: Pod, at: Route) -> Pod:
    containers = tuple(replace(container, at=at, origins={}) for container in pod.containers)
    return replace(pod, at=at, origins={}, containers=containers)


@cache
def _lift_released(name: str) -> Runtime | None:
    manifest = released_runtimes().get(name)
    if manifest is None:
        return None
    nodes = lift_runtime(reader(Manifest(dict(manifest.body))))
    return next(node for node in nodes if isinstance(node, Runtime))
