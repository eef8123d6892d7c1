from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("PLC003")
def efa_across_zones(pool: Pool, world: World) -> Iterator[Finding]:
    """A node pool with EFA spans several Availability Zones.

    EFA traffic does not leave a zone (EC2 user guide, EFA limitations): ranks in two zones cannot reach each other,
    and the job dies in its first collective ("reachable by EFA device but handshake failed", libfabric 4126).

    ## Fails

        nodePools: [{name: gpu, zone: null, zones: [us-west-2a, us-west-2b]}]

    ## Passes

        nodePools: [{name: gpu, zones: [us-west-2b]}]

    Jobs of one node each may use all zones, without EFA.

        nodePools: [{name: gpu, zone: null, zones: [us-west-2a, us-west-2b], placement: none, efa: false}]
        jobs: [{name: llama, nodes: 1}]
    """
    zones = world.zones_of(pool)
    if zones is None or len(zones) < 2:
        return
    regions = {zone[:-1] for zone in zones}
    if len(regions) != 1:
        return  # PLC002 reports zones of several Regions
    node_class = world.node_class(pool)
    works = world.works_on(pool)
    over_efa = [work for work in works if work.gang and work.efa]
    gangs = [work for work in over_efa if work.spread(pool)]
    unused = node_class is not None and node_class.efa and not works
    if gangs or unused:
        why = "its nodes have EFA interfaces"
        if gangs:
            job = gangs[0]
            why = f"job `{job.name}` talks over EFA between its {job.nodes} nodes"
        yield Finding(
            f"pool `{pool.title}` has EFA and spans {len(zones)} Availability Zones",
            pool.where("zones"),
            label="EFA traffic cannot leave a zone",
            help="keep one zone, or make one pool for each zone",
            spec_help="keep one of `zones`, or make one pool for each zone",
            notes=(why,),
        )
