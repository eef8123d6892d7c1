from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan


@rule("PLC007")
def placement_group_across_zones(plan: Plan, world: World) -> Iterator[Finding]:
    """A cluster placement group is used from several Availability Zones.

    A cluster placement group lies in one zone (EC2 user guide, placement groups): launches in every other zone
    fail.

    ## Fails

        nodePools: [{name: gpu, zone: null, zones: [us-west-2a, us-west-2b], placement: cluster, efa: false}]
        jobs: [{name: llama, nodes: 1}]

    ## Passes

        nodePools: [{name: gpu, zones: [us-west-2b], placement: cluster}]

        nodePools: [{name: gpu, zone: null, zones: [us-west-2a, us-west-2b], placement: spread, efa: false}]
        jobs: [{name: llama, nodes: 1}]
    """
    for pool in world.pools:
        group = world.placement_group(pool)
        zones = world.zones_of(pool) or ()
        if group is None or len(zones) < 2 or _has_efa(pool, world):
            continue  # for nodes with EFA, PLC003 and PLC021 report the same, and their group is derived
        # A group that somebody else makes is of unknown strategy; partition and spread groups may span zones.
        if group.strategy == "cluster":
            yield Finding(
                f"pool `{pool.title}` has {len(zones)} zones and cluster placement group `{group.name}`",
                group.at,
                label="a cluster placement group lies in one zone",
                help="keep one zone, or take no cluster placement group",
                spec_help="keep one of `zones`, or write `placement: none`",
            )


def _has_efa(pool: Pool, world: World) -> bool:
    if isinstance(pool, FixedPool):
        return pool.efa
    node_class = world.node_class(pool)
    return node_class is not None and bool(node_class.efa)
