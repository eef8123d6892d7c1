"""Karpenter: a NodePool with a node class, from which nodes come when pods wait, and go when none is left."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.pools import Pool
from trainyard.core.pools.spec import NodePool
from trainyard.eks.nodes.karpenter import (
    node_classes,
    node_overlay,
    node_pools,
    repairs,
    root_volume,
)
from trainyard.eks.settings.launcher import (
    Drainer,
    PoolLauncher,
    Refused,
    Repairs,
    Volume,
    share_repaired,
    some_nodes_always_on,
)
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.units import Duration
from trainyard.plan import Plan, PlanItem
from trainyard.plan.context import Context
from trainyard.plan.scheduling import NODEPOOL_LABEL


class Karpenter(PoolLauncher):
    """The launcher of pools that ask for no other."""

    name = "Karpenter"
    place = 9
    code = "RES348"
    key = ""
    no_commands = None
    no_huge_pages = ""
    ages = False
    disks = "karpenter.k8s.aws/v1 EC2NodeClass instanceStorePolicy"
    part_label = NODEPOOL_LABEL
    brings_efa_plugin = False
    made_by = "Karpenter"
    drains_blocks = Drainer("Karpenter", Duration.minutes(1))
    """karpenter-provider-aws v1.14.1, capacityreservation/expiration."""

    def launches(self, spec: ClusterSpec, pool: NodePool) -> bool:
        return True

    def refused(self, context: Context, pool: Pool) -> Iterator[Refused]:
        source = "karpenter.sh/v1 NodePool replicas (v1.14.1): a pool that scales has no minimum"
        yield from some_nodes_always_on(pool, self.name, source)
        if pool.static and pool.spec.consolidate_after is not None:
            yield Refused(
                pool.at / "consolidateAfter",
                "is always on, and Karpenter consolidates none of its nodes",
                "remove it, or write `nodes: {max: ...}` for a pool that scales",
                "karpenter v1.14.1, pkg/controllers/disruption: of static NodePools only drift is looked at",
            )

    def nodes(self, context: Context, pool: Pool) -> Iterator[PlanItem]:
        yield from node_classes(context, pool)
        yield from node_pools(context, pool)
        if pool.overlaid:
            yield node_overlay(context, pool)

    def root_volume(self, plan: Plan, pool: str) -> Volume | None:
        return root_volume(plan, pool)

    def repairs(self, plan: Plan, pool: str) -> Repairs:
        return repairs(plan)

    def most_repaired(self, pool: NodePool) -> tuple[int, str]:
        return share_repaired(pool.nodes.max)


LAUNCHER = Karpenter()
