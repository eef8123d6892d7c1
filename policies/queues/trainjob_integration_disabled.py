from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.plan import TRAIN_JOB, TrainJob
from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("QUE011", aliases=("framework-not-managed",))
def trainjob_integration_disabled(manager: QueueManager, world: World) -> Iterator[Finding]:
    """Kueue does not manage TrainJobs, and jobs have queues.

    Kueue looks only at the kinds in `integrations.frameworks` (kueue v0.19.2): the queue label then means nothing,
    and the jobs run at once, past every quota.

    ## Fails

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [batch/job]}

    ## Passes

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [batch/job, trainer.kubeflow.org/trainjob]}
    """
    frameworks = manager.frameworks
    if not frameworks or "trainer.kubeflow.org/trainjob" in frameworks:
        return
    jobs = world.plan.of(TrainJob)
    train_jobs = [job for job in jobs if job.kind == TRAIN_JOB]
    queued = next((job for job in train_jobs if job.queue), None)
    if queued is not None:
        yield Finding(
            f"Kueue does not manage TrainJobs, and `{queued.identity.name}` has queue `{queued.queue}`",
            manager.where("frameworks"),
            label="the job runs past every quota",
            help="add `trainer.kubeflow.org/trainjob` to `integrations.frameworks`",
        )
