from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("QUE012", severity=Severity.WARNING)
def queue_stopped(work: Work) -> Iterator[Finding]:
    """A job goes to a queue that is stopped.

    With `stopPolicy` `Hold` nothing is admitted, with `HoldAndDrain` what runs is evicted too (kueue v0.19.2).

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {stopPolicy: Hold}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {stopPolicy: None}
    """
    if work.queue is not None and work.queue.stopped:
        yield Finding(f"queue `{work.queue.name}`, which job `{work.name}` goes to, is stopped",
                      work.queue.where("stopped"), help="remove `stopPolicy`")
