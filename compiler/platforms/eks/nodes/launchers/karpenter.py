"""Karpenter: a NodePool with a node class, from which nodes come when pods wait, and go when none is left."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.core.pools.pools import Pool
from compiler.core.pools.spec import NodePool
from compiler.plan.base import PlanNode
from compiler.platforms.eks.settings.launcher import PoolLauncher, Refused, some_nodes_always_on


class Karpenter(PoolLauncher):
    """The launcher of pools that ask for no other."""

    name = "Karpenter"
    place = 9
    code = "RES348"
    no_commands = None
    huge_pages = True
    ages = False
    disks = "karpenter.k8s.aws/v1 EC2NodeClass instanceStorePolicy"

    def launches(self, context: Context, pool: NodePool) -> bool:
        return True

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        source = "karpenter.sh/v1 NodePool replicas (v1.14.1): a pool that scales has no minimum"
        yield from some_nodes_always_on(pool, self.name, source)

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanNode]:
        from compiler.platforms.eks.nodes.karpenter import node_classes, node_overlay, node_pools

        yield from node_classes(context, pool)
        yield from node_pools(context, pool)
        if pool.overlaid:
            yield node_overlay(context, pool)


LAUNCHER = Karpenter()
