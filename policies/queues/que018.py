from __future__ import annotations

from collections.abc import Iterator

from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE018")
def queue_of_other_namespace(work: Work, world: World) -> Iterator[Finding]:
    """The queue of a job is in another namespace.

    A LocalQueue serves its own namespace only (kueue v0.19.2, LocalQueue): the job refers to one that is not there,
    and waits for ever. Told where the set has the queue in other namespaces, and none at all in the job's.

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
    if any(each.namespace in (namespace, "") for each in world.plan.local_queues):
        return
    used = {(each.namespace, each.queue) for each in world.plan.jobs}
    elsewhere = [each.namespace for each in world.plan.local_queues
                 if each.name == name and (each.namespace, name) not in used]
    if elsewhere:
        yield Finding(
            f"job `{work.name}` is in namespace `{namespace}`, its queue `{name}` in `{elsewhere[0]}`",
            work.where("queue"), label="the job is never admitted",
            help=f"make a LocalQueue `{name}` in namespace `{namespace}`, or move the job to `{elsewhere[0]}`",
        )
