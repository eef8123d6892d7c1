"""The node pools of a cluster: what launches their nodes, and what jobs can get of one."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.bounds import check_pools
from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.core.pools.windows import window
from trainyard.eks.nodes.boot import check_lustre_clients
from trainyard.eks.settings.launcher import launcher_of
from trainyard.plan import PlanItem
from trainyard.plan.context import Context


def resolve(context: Context) -> Iterator[PlanItem]:
    """The nodes of every pool, and what jobs can get of one."""
    pools = context.once(resolve_pools)
    check_pools(context, pools)
    check_lustre_clients(context, pools)
    for pool in pools.values():
        _explain_disks(context, pool)
        launcher = launcher_of(pool)
        for at, fact, help, source in launcher.refused(context, pool):
            context.fault(launcher.code, f"pool `{pool.name}` {fact}", at, help, source=source)
        yield from launcher.nodes(context, pool)
        yield pool.share.planned(pool.name)
        block = window(pool)
        if block is not None:
            yield block


def _explain_disks(context: Context, pool: Pool) -> None:
    """What becomes of the NVMe disks of a pool's nodes."""
    instance = pool.instance
    if not instance.nvme_gb:
        return
    launcher = launcher_of(pool)
    if launcher.disks_at:
        context.derive(
            f"pool/{pool.name}",
            "localStorage",
            launcher.disks_at,
            f"{instance.nvme_gb} GB of NVMe are there; pods, images and logs lie on the root volume",
            launcher.disks,
            follows=pool.at_type,
        )
        return
    context.settle(
        f"pool/{pool.name}",
        "localStorage",
        pool.spec.local_storage,
        pool.local_storage,
        f"{instance.nvme_gb} GB of NVMe hold images and /tmp",
        launcher.disks,
        at=pool.at / "localStorage",
    )
