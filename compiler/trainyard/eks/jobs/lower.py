"""Lower: Kubeflow Trainer's ClusterTrainingRuntime, files of jobs, and the objects of jobs.

Neither `suspend` nor anything else that Kueue or Trainer own is ever written.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from trainyard.eks.jobs.bodies import runtime_spec
from trainyard.eks.jobs.heads import JOBS, pod_texts
from trainyard.eks.jobs.kinds import kind_called
from trainyard.eks.jobs.origins import runtime_origins
from trainyard.eks.jobs.plan import FileSet, Runtime, TrainJob
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import (
    NO_PRUNE,
    fields_given,
    manifest_in,
    object_head,
    unsubstituted,
)
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

API = "trainer.kubeflow.org/v1alpha1"
RUNTIMES = "queues/runtimes"
FILES = "trainyard.dev/files"


def lower(plan: Plan) -> Iterator[Manifest]:
    """Runtimes a stage before the jobs: a TrainJob is refused while its runtime is not there."""
    for runtime in plan.of(Runtime):
        if runtime.kind:  # the pods of a job itself
            continue
        yield manifest_in(RUNTIMES, runtime_body(runtime), runtime.at, runtime_origins(runtime))
    for files in plan.of(FileSet):
        body = files_body(files)
        places: Places = {}
        for key in files.files:
            origin = files.where(f"files.{key}")
            places["data", key] = origin
        yield manifest_in(JOBS, body, files.at, places)
    for job in plan.of(TrainJob):
        yield kind_called(job.kind).manifest(plan, job)


def runtime_body(runtime: Runtime) -> Body:
    """ClusterTrainingRuntime, or TrainingRuntime where it has a namespace."""
    kind = "TrainingRuntime" if runtime.namespace else "ClusterTrainingRuntime"
    assert runtime.framework
    labels = {"trainer.kubeflow.org/framework": runtime.framework}
    policy = {**fields_given(numNodes=runtime.nodes), runtime.framework: dict(runtime.settings)}
    return {
        **object_head(
            API,
            kind,
            runtime.name,
            runtime.namespace,
            labels=labels,
            annotations=_runtime_annotations(runtime),
        ),
        "spec": {"mlPolicy": policy, "template": {"spec": runtime_spec(runtime)}},
    }


def files_body(files: FileSet) -> Body:
    """ConfigMap. A text with `${` would be changed by Flux (kustomize-controller 1.9)."""
    annotations = unsubstituted(dict(NO_PRUNE), files.files.values())
    return {
        **object_head(
            "v1",
            "ConfigMap",
            files.name,
            files.namespace,
            labels={FILES: "true"},
            annotations=annotations,
        ),
        "immutable": True,
        "data": dict(files.files),
    }


def _runtime_annotations(runtime: Runtime) -> Body:
    """How Flux applies it. Flux would replace its own variables in the texts of containers too."""
    pods = (pod_texts(job.pod) for job in runtime.jobs)
    texts = chain.from_iterable(pods)
    return unsubstituted(dict(NO_PRUNE), texts)
