from __future__ import annotations

from collections.abc import Iterator

from compiler.platforms.eks.cluster.plan import Bootstrap
from compiler.platforms.eks.nodes.plan import NodePool
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC007")
def placement_group_across_zones(pool: NodePool, world: World) -> Iterator[Finding]:
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
    node_class = world.node_class(pool)
    zones = pool.zones or ()
    if node_class is None or not node_class.placement_group:
        return
    if len(zones) < 2:
        return
    if node_class.efa:
        return  # for nodes with EFA, PLC003 reports the same, and their group is derived
    bootstrap = world.plan.one(Bootstrap)
    created = bootstrap.placement_groups if bootstrap else ()
    strategies = {group.name: group.strategy for group in created}
    placement_group = node_class.placement_group
    # A group that somebody else makes is of unknown strategy; partition and spread groups may span zones.
    if strategies.get(placement_group) == "cluster":
        yield Finding(
            f"pool `{pool.title}` has {len(zones)} zones and cluster placement group `{placement_group}`",
            node_class.where("placement_group"),
            label="a cluster placement group lies in one zone",
            help="keep one zone, or take no cluster placement group",
            spec_help="keep one of `zones`, or write `placement: none`",
        )
