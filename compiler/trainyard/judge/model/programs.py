"""The source text of programs in manifests: words of commands, and files of ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import Container, Pod
from trainyard.eks.jobs.plan import Runtime
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.shell import title_of
from trainyard.judge.model.values import mapping
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan

_FILES = (".py", ".sh")


class Program(NamedTuple):
    """A text that is run, or has lines that are: whose it is, and its place."""

    title: str
    text: str
    at: Route


def programs(plan: Plan, manifests: Sequence[Manifest], *hints: str) -> Iterator[Program]:
    """Every text of a program with all of the hints in it. Most jobs of a set have none."""
    for manifest in manifests:
        if manifest.body.get("kind") == "ConfigMap":
            yield from _files(manifest, hints)
    for job, words in plan.once(_words_of_jobs):
        if hints[0] not in words:
            continue
        for word, at in _said(job, hints):
            yield Program(f"job `{job.identity.name}`", word, at)
    for runtime in plan.of(Runtime):
        for replicated in runtime.jobs:
            yield from _of_pod(replicated.pod, f"runtime `{runtime.name}`", hints)
    for workload in plan.of(Workload):
        for part in workload.pods:
            yield from _of_pod(part.pod, title_of(workload), hints)


def _words_of_jobs(plan: Plan) -> list[tuple[Gang, str]]:
    """Every job, with all words of its command, in which hints are sought at once."""
    return [(job, "\n".join((*job.command, *job.args))) for job in plan.of(Gang)]


def _of_pod(pod: Pod, title: str, hints: tuple[str, ...]) -> Iterator[Program]:
    for container in pod.all_containers:
        for word, at in _said(container, hints):
            yield Program(title, word, at)


def _said(node: Gang | Container, hints: tuple[str, ...]) -> Iterator[tuple[str, Route]]:
    texts = (("command", node.command), ("args", node.args))
    for field, words in texts:
        for index, word in enumerate(words):
            if hints[0] in word and _has_all(word, hints):
                yield word, node.where(field) / index


def _files(manifest: Manifest, hints: tuple[str, ...]) -> Iterator[Program]:
    data = mapping(manifest.body, "data")
    for name, text in data.items():
        if not isinstance(text, str):
            continue
        if not str(name).endswith(_FILES):
            continue
        if _has_all(text, hints):
            title = f"`{name}` of ConfigMap `{manifest.ref.name}`"
            at = Route((manifest.id, "data", name))
            yield Program(title, text, at)


def _has_all(text: str, hints: tuple[str, ...]) -> bool:
    return all(hint in text for hint in hints)
