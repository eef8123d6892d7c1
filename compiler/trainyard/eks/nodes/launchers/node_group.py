"""A managed node group: eksctl makes it, EKS keeps and repairs its nodes, and they are always on."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.pools import Pool
from trainyard.core.pools.spec import NodePool
from trainyard.eks.nodes.groups import most_repaired, node_groups, refused, repairs, root_volume
from trainyard.eks.settings.launcher import Drainer, PoolLauncher, Refused, Repairs, Volume
from trainyard.language.models.cluster import ClusterSpec
from trainyard.plan import Plan, PlanItem
from trainyard.plan.context import Context


class NodeGroup(PoolLauncher):
    """The launcher of pools with `managedNodeGroup`. Karpenter knows none of its nodes, and labels none.

    eksctl makes an interface of every network card an `efa`, which has an address (v0.230.0, network_interfaces.go). It
    installs its own device plugin with every group that has EFA (v0.230.0, tasks.go).
    """

    name = "managed node group"
    place = 2
    key = "managedNodeGroup"
    code = "RES172"
    no_commands = None
    no_huge_pages = ""
    ages = False
    disks = "karpenter.k8s.aws/v1 EC2NodeClass instanceStorePolicy"
    part_label = "eks.amazonaws.com/nodegroup"
    brings_efa_plugin = True
    drains_blocks = Drainer("EKS", None)
    own_label = True
    efa_only = False
    made_by = "eksctl"
    instance_labels = False
    untested = "it is a managed node group, whose taints are for good"

    def launches(self, spec: ClusterSpec, pool: NodePool) -> bool:
        return pool.managed_node_group is not None

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        yield from refused(context, pool)

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanItem]:
        yield from node_groups(context, pool)

    def root_volume(self, plan: Plan, pool: str) -> Volume | None:
        return root_volume(plan, pool)

    def repairs(self, plan: Plan, pool: str) -> Repairs:
        return repairs(plan, pool)

    def most_repaired(self, pool: NodePool) -> tuple[int, str]:
        return most_repaired(pool)


LAUNCHER = NodeGroup()
