from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import CapacityWindow
from trainyard.extensions.forecast.timeline.outlook import courses, outlook
from trainyard.judge.model.capacity_windows import order_matters
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("PLC085", severity=Severity.WARNING)
def block_without_work(block: CapacityWindow, world: World) -> Iterator[Finding]:
    """A Capacity Block is over before any of its jobs runs in it.

    It is paid for beforehand, whether it is used or not (EC2 user guide, capacity-blocks-pricing-billing). Found by
    simulating all jobs over time, from the start of the first block on (docs/simulate.md): its jobs have ended
    elsewhere before, or wait for others until it is over. Jobs that fit nowhere have rules of their own.

    ## Fails

        nodePools:
          - {name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}],
            starts: "2026-12-01T11:30:00Z", ends: "2026-12-03T11:30:00Z"}}}
          - {name: later, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: 4,
            capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60719}],
            starts: "2026-12-04T11:30:00Z", ends: "2026-12-06T11:30:00Z"}}}
        queues: [{name: research, namespaces: [team-a], quota: [{pool: gpu, nodes: 4}, {pool: later, nodes: 4}]}]
        jobs: [{name: llama, nodes: 4, pool: [gpu, later], expected: 20h}]

    ## Passes

        # as the first that fails, but
        jobs: [{name: llama, expected: 60h}]
    """
    if block.length is None or not world.once(order_matters):
        return
    timeline = world.once(outlook)
    of_block = [
        work for work in world.works if any(pool.title == block.name for pool in work.pools)
    ]
    known = world.once(courses)
    found = [known.get(work.key) for work in of_block]
    if timeline is None or not any(course and not course.never_fits for course in found):
        return
    use = next((use for use in timeline.pools if use.pool == block.name), None)
    if use is None or any(used for _, used in use.steps):
        return
    yield Finding(
        f"the Capacity Block of pool `{block.name}` is over before a job runs in it",
        block.at,
        label="paid for, and never used",
        help="`trainyard simulate --timeline` says what its jobs wait for",
    )
