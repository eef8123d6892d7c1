from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("QUE025", severity=Severity.WARNING, params={"hours": 6})
def pods_ready_timeout_too_long(manager: QueueManager, world: World) -> Iterator[Finding]:
    """An admitted job whose pods never start holds its quota and its nodes for many hours.

    Kueue gives them back when `waitForPodsReady.timeout` is over (kueue v0.19.2): with one node missing, all others
    are paid for so long. `hours` is the longest timeout that is accepted.

    ## Fails

        kueue: {waitForPodsReady: {timeout: 240h}}

        # params: {hours: 1}
        kueue: {waitForPodsReady: {timeout: 2h}}

    ## Passes

        # params: {hours: 24}
        kueue: {waitForPodsReady: {timeout: 12h}}

        kueue: {waitForPodsReady: {timeout: 1h}}
    """
    ready, most = manager.pods_ready, world.param("hours")
    if ready is None or ready.seconds <= most * 3600:
        return
    yield Finding(
        f"a job with one pod that does not start holds all others for {ready}",
        manager.where("pods_ready"),
        help=f"write at most `{most}h`: a node and its image take 20 minutes",
        spec_help=f"write `waitForPodsReady: {{timeout: {most}h}}` or less",
    )
