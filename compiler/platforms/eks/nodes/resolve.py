"""The node pools of a cluster: what launches their nodes, and what jobs can get of one."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.context import Context
from compiler.core.pools.bounds import check_pools
from compiler.core.pools.plan import NodeShare
from compiler.core.pools.pools import Pool, resolve_pools
from compiler.plan import PlanNode
from compiler.platforms.eks.nodes.boot import check_lustre_clients
from compiler.platforms.eks.nodes.karpenter import node_classes, node_overlay, node_pools
from compiler.platforms.eks.settings.spec import ClusterSection


def resolve(context: Context) -> Iterator[PlanNode]:
    """The nodes of every pool, and what jobs can get of one."""
    pools = context.once(resolve_pools)
    check_pools(context, pools)
    check_lustre_clients(context, pools)
    auto_mode = ClusterSection.of(context.spec).auto_mode is not None
    for pool in pools.values():
        _explain_disks(context, pool)
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


def _explain_disks(context: Context, pool: Pool) -> None:
    """What becomes of the NVMe disks of a pool's nodes."""
    instance = pool.instance
    if not instance.nvme_gb:
        return
    source = "karpenter.k8s.aws/v1 EC2NodeClass instanceStorePolicy"
    if ClusterSection.of(context.spec).auto_mode is not None:
        source = "EKS user guide, automode-learn-instances: considerations"
    context.settle(
        f"pool/{pool.name}",
        "localStorage",
        pool.spec.local_storage,
        pool.local_storage,
        f"{instance.nvme_gb} GB of NVMe hold images and /tmp",
        source,
        at=pool.at / "localStorage",
    )
