from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import ZONE, NodeClass, NodePool
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("PLC004")
def efa_zone_unpinned(work: Work, world: World) -> Iterator[Finding]:
    """A job of several nodes talks over EFA, and nothing keeps its nodes in one zone.

    A pool without a requirement on `topology.kubernetes.io/zone` launches in the zones of all subnets of its node
    class, each node by itself; EFA does not leave a zone (EC2 user guide, EFA limitations).

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: Exists, values: null}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b]}]}}
    """
    flavors = [world.plan.flavor(each.flavor) for each in work.queue.flavors()] if work.queue else []
    if not (work.gang and work.efa and work.pod is not None) or any(each is None for each in flavors):
        return
    for pool in work.pools:
        if pool.zones is None and work.spread(pool) and not _pinned(pool, world.node_class(pool)):
            yield Finding(
                f"pool `{pool.name}` pins no zone, and job `{work.name}` talks over EFA between {work.nodes} nodes",
                pool.where("zones"), label="each node may come up in another zone",
                help=f"require `{ZONE}` `In` one zone",
            )


def _pinned(pool: NodePool, node_class: NodeClass | None) -> bool:
    """Whether the subnets are unknown or a single one, or nodes come into a placement group or reservations only: a
    cluster placement group and a reservation lie in one zone."""
    if node_class is None or not node_class.subnets or node_class.placement_group:
        return True
    single = len(node_class.subnets) == 1 and bool(node_class.subnets[0].id)
    return single or (pool.capacity_types == ("reserved",) and len(node_class.reservations) == 1)
