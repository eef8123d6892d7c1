from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("QUE009", aliases=("pods-ready-unset",), severity=Severity.WARNING)
def pods_ready_timeout_unset(manager: QueueManager) -> Iterator[Finding]:
    """Kueue's configuration does not say how long the pods of an admitted job may take.

    The default changed with Kueue 0.19 from off to 30 minutes: off, a job with a missing node holds its quota for
    ever; on, a slow image pull evicts jobs (kueue v0.19.2, waitForPodsReady). Set it in any case.

    ## Fails

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}

    ## Passes

        apiVersion: config.kueue.x-k8s.io/v1beta2
        kind: Configuration
        waitForPodsReady: {timeout: 30m}
        integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
    """
    if manager.pods_ready is None:
        yield Finding(
            "Kueue's configuration has no `waitForPodsReady.timeout`",
            manager.where("pods_ready"),
            help="write `waitForPodsReady: {timeout: 30m}`: longer than a node and the image take",
        )
