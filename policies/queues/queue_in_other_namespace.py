from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.kueue.plan import LocalQueue
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule(
    "QUE018", kubernetes="Slurm has no namespaces", aliases=("queue-of-other-namespace",), pods=True
)
def queue_in_other_namespace(work: Work, world: World) -> Iterator[Finding]:
    """The queue of a job is in another namespace, or is a ClusterQueue.

    A LocalQueue serves its own namespace only (kueue v0.19.2, LocalQueue): the job refers to one that is not there,
    and waits for ever. Reported where the set has the queue in other namespaces, and none at all in the job's; or where
    the job names the ClusterQueue behind a LocalQueue of its namespace.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: research, namespace: serving}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: research, namespace: team-a}
    """
    name = work.queue_name
    namespace = work.namespace
    if name is None or not namespace or world.plan.closed:
        return
    queues = world.plan.of(LocalQueue)
    if not queues:
        return
    here = [queue for queue in queues if queue.namespace in (namespace, "")]
    behind = [queue.name for queue in here if queue.cluster_queue == name]
    is_named = any(queue.name == name for queue in here)
    if behind and not is_named:
        yield Finding(
            f"{work.title} names ClusterQueue `{name}`, and jobs go to a LocalQueue",
            work.where("queue"),
            label="the job is never admitted",
            help=f"write `{behind[0]}`, its LocalQueue in namespace `{namespace}`",
        )
    named = [queue for queue in queues if queue.name == name]
    if here or not named:
        return  # before all jobs are looked at, for each of them
    jobs = world.plan.of(TrainJob)
    used = {job.namespace for job in jobs if job.queue == name}
    elsewhere = [queue for queue in named if queue.namespace not in used]
    if elsewhere:
        queue = elsewhere[0]
        # Where several jobs name the queue, its namespace is the mistake.
        alone = sum(job.queue == name for job in jobs) == 1
        if alone:
            at = work.where("queue")
        else:
            at = queue.where("namespace")
        yield Finding(
            f"{work.title} is in namespace `{namespace}`, its queue `{name}` in `{queue.namespace}`",
            at,
            label="the job is never admitted",
            help=f"create a LocalQueue `{name}` in namespace `{namespace}`, or move the job to `{queue.namespace}`",
        )
