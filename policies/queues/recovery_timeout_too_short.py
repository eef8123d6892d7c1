from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("QUE024", severity=Severity.WARNING, params={"minutes": 10})
def recovery_timeout_too_short(manager: QueueManager, world: World) -> Iterator[Finding]:
    """Kueue evicts a running job sooner than a lost pod can be ready again.

    After a pod of a running job is lost, `waitForPodsReady.recoveryTimeout` runs until all are ready again
    (kueue v0.19.2, waitForPodsReady); then the job is evicted, goes to the end of its queue, and loses its place. A new
    node takes about 10 minutes to launch and boot: `minutes` is the shortest time that is accepted. 0 waits for ever.

    ## Fails

        kueue: {waitForPodsReady: {recoveryTimeout: 1s}}

        # params: {minutes: 30}
        kueue: {waitForPodsReady: {recoveryTimeout: 20m}}

    ## Passes

        # params: {minutes: 2}
        kueue: {waitForPodsReady: {recoveryTimeout: 5m}}

        kueue: {waitForPodsReady: {recoveryTimeout: 20m}}

        kueue: {waitForPodsReady: {recoveryTimeout: 0s}}
    """
    recovery, least = manager.recovery, world.param("minutes")
    if recovery is None or not recovery.seconds or recovery.seconds >= least * 60:
        return
    yield Finding(
        f"a job that loses a pod is evicted after {recovery}, and a new node takes {least}m",
        manager.where("recovery"),
        help=f"write at least `{least}m`",
        spec_help=f"write `recoveryTimeout: {least}m` or more, or remove it",
    )
