from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import ClusterQueue, LocalQueue
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule(
    "QUE012",
    kubernetes="LocalQueues and ClusterQueues are of Kueue",
    severity=Severity.WARNING,
    pods=True,
)
def queue_stopped(work: Work, world: World) -> Iterator[Finding]:
    """A job goes to a queue that is stopped.

    With `stopPolicy` `Hold` nothing is admitted, with `HoldAndDrain` what runs is evicted too, whether it is the
    LocalQueue or the ClusterQueue that says so (kueue v0.19.2, pkg/controller/core/localqueue_controller.go and
    pkg/cache/scheduler/clusterqueue.go): the job waits until somebody removes it. A warning, since queues are
    stopped on purpose, before nodes are taken away.

    ## Fails

        queues: [{name: research, stopPolicy: Hold}]

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {stopPolicy: Hold}

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: research, namespace: team-a}
        spec: {stopPolicy: HoldAndDrain}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {stopPolicy: None}
    """
    name = work.queue_name or ("default" if work.queued else None)
    local_queue = world.plan.named(LocalQueue, name, work.namespace)
    for queue in (work.queue, local_queue):
        if isinstance(queue, ClusterQueue | LocalQueue) and queue.stopped:
            yield Finding(
                f"queue `{queue.name}`, which {work.title} goes to, is stopped",
                queue.where("stop_policy"),
                label="the job waits as long as this is here",
                help="remove `stopPolicy` when its jobs may start",
            )
            return
