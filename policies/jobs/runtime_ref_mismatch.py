from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.kueue.plan import LocalQueue
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN023", aliases=("runtime-elsewhere",))
def runtime_ref_mismatch(job: TrainJob, world: World) -> Iterator[Finding]:
    """A job refers to a runtime of another kind or namespace.

    `runtimeRef.kind` is ClusterTrainingRuntime unless it says TrainingRuntime, and a TrainingRuntime serves its own
    namespace only (trainer v2.3.0): the job is refused. Reported where the set has a runtime of that name only there.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {runtimeRef: {name: torch-gpu-1, kind: TrainingRuntime}}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {runtimeRef: {name: torch-gpu-1, kind: ClusterTrainingRuntime}}
    """
    work = world.work_of(job)
    if work.runtime is not None or world.plan.closed or not job.namespace:
        return
    named = [
        (_kind(runtime), runtime.namespace)
        for runtime in world.plan.of(Runtime)
        if runtime.name == job.runtime and not world.works_of(runtime)
    ]
    if not named or (job.runtime_kind, "") in named:
        return  # a TrainingRuntime that does not say its namespace may be in any
    kind, namespace = named[0]
    if namespace:
        queue = world.plan.named(LocalQueue, job.queue, namespace)
    else:
        queue = None
    if queue is not None and work.queue is None:
        return  # the job is in another namespace than its queue: QUE018 reports it
    where = f" in namespace `{namespace}`" if namespace else ""
    right = f"make the runtime in namespace `{job.namespace}`, or a ClusterTrainingRuntime of it"
    if kind != job.runtime_kind and namespace in ("", job.namespace):
        right = f"write `kind: {kind}`"
    yield Finding(
        f"job `{work.name}` refers to {job.runtime_kind} `{job.runtime}`, and that is a {kind}{where}",
        job.where("runtime"),
        label="the job is refused",
        help=right,
    )


def _kind(runtime: Runtime) -> str:
    """The kind of a lifted runtime: the first key of its place is the id of its manifest."""
    return str(runtime.at[0]).removeprefix("@").partition("/")[0]
