from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool
from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.blocks import gangs_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed


@rule("PLC035", severity=Severity.NOTE, params={"nodes": 1}, enabled=False)
def no_spare_node(flavor: Flavor, world: World) -> Iterator[Finding]:
    """Jobs take all nodes of reserved capacity, and leave none for one that fails.

    A reservation has as many instances as were bought. A node that fails comes back when EC2 has another host for it;
    until then its gang waits, with all its other nodes paid for. With a spare node the gang starts again at once.
    Whether that is worth the price of a node is your choice, so the rule is off by default. It judges pools whose nodes
    are always on; `nodes` is how many must be spare.

    ## Fails

        nodePools: [{name: gpu, nodes: 4, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]

        # params: {nodes: 2}
        nodePools: [{name: gpu, nodes: 5, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]

    ## Passes

        nodePools: [{name: gpu, nodes: 5, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]

        nodePools:
          - {name: gpu, nodes: 4, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}
          - {name: more, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: 4,
            capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60719}]}}}
        queues: [{name: research, quota: [{pool: gpu, nodes: 4}, {pool: more, nodes: 4}]}]
        jobs: [{name: llama, pool: [gpu, more]}]

        # params: {nodes: 0}
        nodePools: [{name: gpu, nodes: 4, capacity: {reserved: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]
    """
    pools = world.pools_of(flavor)
    if not pools or not all(_bought(pool, world) for pool in pools):
        return
    works = gangs_of(flavor, world)
    nodes = sum(map(_most, pools))
    standing = sum(pool.replicas or 0 for pool in pools)
    asked = sum(work.nodes or 0 for work in works)
    spare = world.param("nodes")
    if not works or not nodes - spare < asked <= standing:
        return
    names = listed(work.name for work in works)
    if len(works) == 1:
        take = f"job {names} takes"
    else:
        take = f"jobs {names} take"
    yield Finding(
        f"{take} {asked} of {nodes} nodes of `{flavor.name}`",
        pools[0].where("replicas"),
        label="nothing replaces a node that fails",
        help=f"leave {spare} spare",
    )


def _bought(pool: Pool, world: World) -> bool:
    """Whether a pool's nodes are always on, and only of reservations that are named."""
    node_class = world.node_class(pool)
    reserved = (
        pool.capacity_types == ("reserved",)
        and node_class is not None
        and bool(node_class.reservations)
    )
    return reserved and pool.replicas is not None


def _most(pool: Pool) -> int:
    """The nodes that a pool may have: a limit above its replicas leaves room for a successor."""
    limit = pool.limits.get("nodes")
    return max(pool.replicas or 0, limit.value if limit is not None else 0)
