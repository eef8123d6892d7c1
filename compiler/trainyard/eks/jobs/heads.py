"""Metadata of a job's object: name, labels, and annotations for Kueue and Flux."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Pod
from trainyard.eks.jobs.origins import LEAST, PRIORITY, QUEUE
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.output.lowering.body import NO_PRUNE, object_head, unsubstituted
from trainyard.output.manifest import Body

JOBS = "jobs"
"""The folder of jobs."""
# Kueue lowers the parallelism of what it admits in part, and refuses every edit of it from then on (kueue v0.19.2,
# job_webhook.go): Flux applies the job where it is not there, and never again (kustomize-controller v1.9).
ONCE = {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}


def job_head(
    job: TrainJob, api: str, kind: str, own: Runtime | None = None, *, once: bool = False
) -> Body:
    """apiVersion, kind and metadata of a job; ``own``: the pods that its object has itself; ``once``: Flux applies it
    where it is not there, and never again."""
    assert job.queue is not None
    labels = {**job.labels, QUEUE: job.queue}
    if job.priority:
        labels[PRIORITY] = job.priority
    return object_head(
        api, kind, job.name, job.namespace, labels=labels, annotations=_annotations(job, own, once)
    )


def _annotations(job: TrainJob, own: Runtime | None, once: bool) -> Body:
    annotations = {**job.annotations, **NO_PRUNE}
    if job.least_nodes is not None:
        annotations[LEAST] = str(job.least_nodes)
    if job.least_nodes is not None or once:
        annotations.update(ONCE)
    values = [variable.value or "" for variable in job.env]
    for source in job.initializers:
        values.append(source.uri or "")
        values += [variable.value or "" for variable in source.env]
    texts = [*job.command, *job.args, *values, *job.annotations.values()]
    if own is not None:
        for part in own.jobs:
            texts += pod_texts(part.pod)
    return unsubstituted(annotations, texts)


def pod_texts(pod: Pod) -> Iterator[str]:
    """What the spec says in a pod of a runtime, word for word."""
    yield from pod.annotations.values()
    for container in pod.all_containers:
        yield container.working_dir
        yield from container.command
        yield from container.args
        for variable in container.env:
            yield variable.value or ""
