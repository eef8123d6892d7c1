from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("QUE030", severity=Severity.WARNING, params={"hours": 6})
def recovery_timeout_too_long(manager: QueueManager, world: World) -> Iterator[Finding]:
    """Kueue lets a job that has lost a pod keep its nodes for hours or years.

    `waitForPodsReady.recoveryTimeout` is how long a running job may be without one of its pods (kueue v0.19.2); its
    other nodes wait for that one, idle and paid for. A node takes some 10 minutes to launch: what is not back in hours
    does not come. `hours` is the longest time that is accepted. 0, which waits for ever, says so.

    ## Fails

        kueue: {waitForPodsReady: {recoveryTimeout: 87600h}}

        # params: {hours: 1}
        kueue: {waitForPodsReady: {recoveryTimeout: 2h}}

    ## Passes

        # params: {hours: 3}
        kueue: {waitForPodsReady: {recoveryTimeout: 2h}}

        kueue: {waitForPodsReady: {recoveryTimeout: 45m}}

        kueue: {waitForPodsReady: {recoveryTimeout: 0s}}
    """
    recovery, most = manager.recovery, world.param("hours")
    if recovery is None or recovery.seconds <= most * 3600:
        return
    if manager.pods_ready is not None and manager.pods_ready.seconds >= recovery.seconds:
        return  # QUE025: both are as long
    yield Finding(
        f"a job that has lost a pod keeps its other nodes for {recovery} before it is evicted",
        manager.where("recovery"),
        label="idle, and paid for",
        help=f"write at most `{most}h`",
        spec_help="write `recoveryTimeout: 45m`, or remove it",
    )
