from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import LocalQueue
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule(
    "QUE015",
    kubernetes="LocalQueues are of Kueue: sbatch takes a default partition and account",
    aliases=("job-past-the-queue",),
    severity=Severity.WARNING,
    gangs=True,
)
def job_without_queue(work: Work, world: World) -> Iterator[Finding]:
    """A job has no queue, though its namespace has one.

    Without the label `kueue.x-k8s.io/queue-name` (or a LocalQueue called `default`) Kueue leaves the job alone
    (kueue v0.19.2): it starts at once and takes nodes that others have quota for.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {labels: {kueue.x-k8s.io/queue-name: null}}

    ## Passes

        jobs: [{name: llama}]
    """
    if work.queue_name is not None:
        return
    workload = world.workload_of(work)
    if workload is not None and any(_QUEUE in part.pod.labels for part in workload.pods):
        return  # Kueue manages its pods one by one (kueue v0.19.2, pod integration)
    here = [queue for queue in world.plan.of(LocalQueue) if queue.namespace == work.namespace]
    if not here or any(queue.name == "default" for queue in here):
        return
    name = here[0].name
    yield Finding(
        f"job `{work.name}` has no queue",
        work.where("queue"),
        label="it runs past every quota",
        help=f"add the label `kueue.x-k8s.io/queue-name: {name}`",
    )


_QUEUE = "kueue.x-k8s.io/queue-name"
