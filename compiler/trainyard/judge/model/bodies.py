"""Fields of pods that the plan does not type, read from the bodies of their manifests, and every template of a set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.core.pods.plan import Pod
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.third_party_workloads.plan import Workload, titled
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.values import value_at
from trainyard.judge.model.work import Work
from trainyard.language.places import Route


def _bodies(world: Reading) -> Mapping[str, Any]:
    return {manifest.id: manifest.body for manifest in world.manifests}


def body_at(world: Reading, at: Route) -> Any:
    """What a manifest has at a place; ``None`` where nothing is."""
    if not at:
        return None
    return value_at(world.once(_bodies).get(str(at[0])), *at[1:])


def spec_of(world: Reading, pod: Pod) -> tuple[Any, Route]:
    """The ``spec`` of a pod template, and its place."""
    at = pod.at / "spec"
    return body_at(world, at), at


def object_of(world: Reading, at: Route) -> Any:
    """The whole object that a place is in."""
    return body_at(world, Route(at[:1]))


class HeldBack(NamedTuple):
    """Pods of a Job of which fewer run at once than have to: how many, of how many, and where that is said."""

    at_once: int
    all: int
    at: Route


def held_back(work: Work, world: Reading) -> HeldBack | None:
    """The pods of an Indexed Job, alone or of a JobSet, of which some start only when others have ended."""
    pod = work.pod
    if pod is None or not pod.at:
        return None
    at = pod.at.parent
    job = body_at(world, at)
    pods, most = value_at(job, "completions"), value_at(job, "parallelism")
    most = 1 if most is None else most
    if not isinstance(pods, int) or not isinstance(most, int) or not 0 < most < pods:
        return None
    kind = value_at(object_of(world, at), "kind")
    indexed = value_at(job, "completionMode") == "Indexed" or kind == "JobSet"
    return HeldBack(most, pods, at / "parallelism") if indexed else None


class Template(NamedTuple):
    """The pods of one template: whose they are, and their namespace, where it is known."""

    title: str
    pod: Pod
    namespace: str


def templates(world: Reading) -> tuple[Template, ...]:
    """Every template of pods of a plan: ``world.once(templates)``."""
    return tuple(_templates(world))


def _templates(world: Reading) -> Iterator[Template]:
    for workload in world.plan.of(Workload):
        title = titled(workload.kind, workload.name)
        for part in workload.pods:
            yield Template(title, part.pod, workload.namespace)
    for runtime in world.plan.of(Runtime):
        kind = f"job `{runtime.name}`" if runtime.kind else f"runtime `{runtime.name}`"
        for replicated in runtime.jobs:
            yield Template(kind, replicated.pod, runtime.namespace)
    for job in world.plan.of(TrainJob):
        for patch in job.patches:
            yield Template(f"job `{job.identity.name}`", patch.pod, job.namespace)
