"""A managed node group: eksctl makes it, EKS keeps and repairs its nodes, and they are always on."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.core.pools.pools import Pool
from compiler.core.pools.spec import NodePool
from compiler.plan.base import PlanNode
from compiler.platforms.eks.settings.launcher import PoolLauncher, Refused


class NodeGroup(PoolLauncher):
    """The launcher of pools with `managedNodeGroup`. Karpenter knows none of its nodes, and labels none.

    eksctl makes an interface of every network card an `efa`, which has an address (v0.230.0, network_interfaces.go).
    """

    name = "managed node group"
    place = 2
    code = "RES172"
    no_commands = None
    huge_pages = True
    ages = False
    disks = "karpenter.k8s.aws/v1 EC2NodeClass instanceStorePolicy"
    own_label = True
    efa_only = False
    bootstrapped = True
    instance_labels = False
    untested = "it is a managed node group, whose taints are for good"

    def launches(self, context: Context, pool: NodePool) -> bool:
        return pool.managed_node_group is not None

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        from compiler.platforms.eks.nodes.groups import refused

        yield from refused(context, pool)

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanNode]:
        from compiler.platforms.eks.nodes.groups import node_groups

        yield from node_groups(context, pool)


LAUNCHER = NodeGroup()
