from __future__ import annotations

from collections.abc import Iterator

from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE018", aliases=("queue-of-other-namespace",), pods=True)
def queue_in_other_namespace(work: Work, world: World) -> Iterator[Finding]:
    """The queue of a job is in another namespace, or is a ClusterQueue.

    A LocalQueue serves its own namespace only (kueue v0.19.2, LocalQueue): the job refers to one that is not there,
    and waits for ever. Told where the set has the queue in other namespaces, and none at all in the job's; or where the
    job names the ClusterQueue behind a LocalQueue of its namespace.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: research, namespace: serving}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: research, namespace: team-a}
    """
    name, namespace = work.job.queue, work.job.namespace
    if name is None or not namespace or world.plan.closed:
        return
    here = [
        each for each in world.plan.local_queues if each.namespace in (namespace, "")
    ]
    behind = next((each.name for each in here if each.cluster_queue == name), None)
    if behind is not None and not any(each.name == name for each in here):
        yield Finding(
            f"{work.title} names ClusterQueue `{name}`, and jobs go to a LocalQueue",
            work.where("queue"),
            label="the job is never admitted",
            help=f"write `{behind}`, its LocalQueue in namespace `{namespace}`",
        )
    named = [each for each in world.plan.local_queues if each.name == name]
    if here or not named:
        return  # before all jobs are looked at, for each of them
    used = {(each.namespace, each.queue) for each in world.plan.jobs}
    elsewhere = [each for each in named if (each.namespace, name) not in used]
    if elsewhere:
        queue = elsewhere[0]
        alone = (
            sum(each.queue == name for each in world.plan.jobs) == 1
        )  # of several jobs the queue is the odd one
        yield Finding(
            f"{work.title} is in namespace `{namespace}`, its queue `{name}` in `{queue.namespace}`",
            work.where("queue") if alone else queue.where("namespace"),
            label="the job is never admitted",
            help=f"make a LocalQueue `{name}` in namespace `{namespace}`, or move the job to `{queue.namespace}`",
        )
