"""Karpenter: a NodePool with a node class, from which nodes come when pods wait, and go when none is left."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.core.pools.pools import Pool
from compiler.core.pools.spec import NodePool
from compiler.plan.base import PlanNode
from compiler.platforms.eks.settings.launcher import PoolLauncher, Refused


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
        nodes = pool.spec.nodes
        if 0 < nodes.min < nodes.max:
            yield Refused(
                pool.at / "nodes" / "min",
                f"has {nodes.min} to {nodes.max} nodes, and Karpenter keeps a fixed number or scales from 0",
                f"write `nodes: {nodes.max}` to keep all nodes on, or `min: 0` to scale from zero",
                "karpenter.sh/v1 NodePool replicas (v1.14.1): a pool that scales has no minimum",
            )

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanNode]:
        from compiler.platforms.eks.nodes.karpenter import node_classes, node_overlay, node_pools

        yield from node_classes(context, pool)
        yield from node_pools(context, pool)
        if pool.overlaid:
            yield node_overlay(context, pool)


LAUNCHER = Karpenter()
