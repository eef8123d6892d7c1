from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE012", severity=Severity.WARNING)
def queue_stopped(work: Work, world: World) -> Iterator[Finding]:
    """A job goes to a queue that is stopped.

    With `stopPolicy` `Hold` nothing is admitted, with `HoldAndDrain` what runs is evicted too (kueue v0.19.2).

    ## Fails

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
    for queue in (work.queue, world.plan.local_queue(work.job.namespace, work.job.queue)):
        if queue is not None and queue.stopped:
            yield Finding(f"queue `{queue.name}`, which job `{work.name}` goes to, is stopped",
                          queue.where("stopped"), help="remove `stopPolicy`")
            return
