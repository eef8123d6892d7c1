from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.judge.model.gangs import is_elastic
from trainyard.judge.model.offers import place
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan.scheduling import CAPACITY_TYPE


@rule("PLC013", gangs=True, severity=Severity.WARNING)
def spot_for_gang(work: Work, world: World) -> Iterator[Finding]:
    """A job of several nodes runs on spot capacity.

    One interruption of one node stops all nodes of the job, with two minutes' notice (EC2 user guide, spot
    interruptions); accelerated types are interrupted often, and each time all of the gang's work since its last
    checkpoint is lost.

    ## Fails

        nodePools: [{name: gpu, capacity: {spot: {}}}]

    ## Passes

        nodePools: [{name: gpu, capacity: {spot: {}}}]
        jobs: [{name: llama, nodes: 1}]
    """
    wanted = {
        pool.name: pool
        for choice in work.choices
        for pool in choice.pools
        if choice.labels.get(CAPACITY_TYPE, "spot") == "spot"
    }
    if not work.gang or is_elastic(work):
        return
    for pool in wanted.values():
        if _reservation_unused(pool, world):
            continue  # PLC010 reports it
        if isinstance(pool, FixedPool) and not work.complete:
            continue  # what it asks for may keep it off a group that stands there for something else
        if "spot" in (pool.capacity_types or ()):
            yield Finding(
                f"job `{work.name}` needs several nodes at once, and pool `{pool.title}` may launch spot",
                place(pool, CAPACITY_TYPE, "spot"),
                label="one interruption stops all nodes",
                help="take `on-demand` or a reservation for jobs of several nodes",
                spec_help="write `capacity: {onDemand: {}}`, or a reservation, for jobs of several nodes",
            )


def _reservation_unused(pool: Pool, world: World) -> bool:
    """Whether a pool's node class selects a reservation, and no pool of the class takes reserved capacity."""
    node_class = world.node_class(pool)
    if node_class is None or not node_class.reservations:
        return False
    pools = world.pools_of_class(node_class)
    return not any("reserved" in (other.capacity_types or ()) for other in pools)
