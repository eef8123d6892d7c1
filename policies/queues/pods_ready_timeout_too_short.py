from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule(
    "QUE010", aliases=("pods-ready-too-short",), severity=Severity.WARNING, params={"minutes": 20}
)
def pods_ready_timeout_too_short(manager: QueueManager, world: World) -> Iterator[Finding]:
    """Kueue evicts jobs sooner than their nodes come up.

    An accelerated node takes about 10 minutes to launch and boot, and an image of 25 GB another 10: a job whose
    pods are not ready within `waitForPodsReady.timeout` is evicted and queued again (kueue v0.19.2), so it never
    starts. `minutes` is the shortest timeout that is accepted for pools that start without nodes.

    ## Fails

        kueue: {waitForPodsReady: {timeout: 5m}}

        # params: {minutes: 45}
        kueue: {waitForPodsReady: {timeout: 30m}}

    ## Passes

        kueue: {waitForPodsReady: {timeout: 30m}}

        # params: {minutes: 5}
        kueue: {waitForPodsReady: {timeout: 5m}}
    """
    ready = manager.pods_ready
    least = world.param("minutes")
    if ready is None or ready.seconds >= least * 60:
        return
    empty = map(world.starts_empty, world.pools)
    if not world.pools or any(empty):
        yield Finding(
            f"jobs whose pods are not ready within {ready} are evicted, and a node with its image takes {least}m",
            manager.where("pods_ready"),
            help=f"write at least `{least}m`",
            spec_help=f"write `waitForPodsReady: {{timeout: {least}m}}` or more",
        )
