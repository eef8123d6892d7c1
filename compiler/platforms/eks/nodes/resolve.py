"""The node pools of a cluster: what launches their nodes, and what jobs can get of one."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pools.bounds import check_pools
from compiler.core.pools.plan import NodeShare
from compiler.core.pools.pools import resolve_pools
from compiler.plan import PlanNode
from compiler.platforms.eks.cluster.spec import ClusterSection
from compiler.platforms.eks.nodes.boot import check_lustre_clients
from compiler.platforms.eks.nodes.karpenter import node_classes, node_overlay, node_pools
from compiler.resolve.context import Context


def resolve(context: Context) -> Iterator[PlanNode]:
    """The nodes of every pool, and what jobs can get of one."""
    pools = context.once(resolve_pools)
    check_pools(context, pools)
    check_lustre_clients(context, pools)
    auto_mode = ClusterSection.of(context.spec).auto_mode is not None
    for pool in pools.values():
        if auto_mode:
            from compiler.platforms.eks.nodes.auto import auto_nodes

            yield from auto_nodes(context, pool)
        elif pool.managed:
            from compiler.platforms.eks.nodes.groups import node_groups

            yield from node_groups(context, pool)
        else:
            yield from node_classes(context, pool)
            yield from node_pools(context, pool)
            if pool.overlaid:
                yield node_overlay(context, pool)
        yield NodeShare(name=pool.name, resources=pool.share.resources())
