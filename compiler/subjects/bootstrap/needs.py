"""The account: what a person must ask AWS for or buy before the bootstrap, with the figures of this spec."""

from __future__ import annotations

from datetime import datetime
from math import ceil

from compiler.catalog.account import opt_in, other_quota, vcpu_quota
from compiler.plan.units import Quantity
from compiler.resolve.context import SPEC, Context
from compiler.subjects.bootstrap.account import (
    Account,
    PoolNeeds,
    Purchase,
    ServiceQuota,
    StorageNeeds,
)
from compiler.subjects.cluster.plan import Cluster
from compiler.subjects.jobs.plan import EFA, HUGEPAGES
from compiler.subjects.pools.plan import NodeGroup
from compiler.subjects.pools.pools import Pool
from compiler.subjects.pools.share import ROOT_GIB
from compiler.subjects.storage.spec import StorageSection


def account(context: Context, pools: dict[str, Pool], made: Cluster) -> Account:
    """What the account must have: by pool, by storage, and for the cluster itself. Totals are nobody's, so that no pool
    changes what another one is told by."""
    return Account(
        opt_in=opt_in(context.spec.region),
        quotas=_of_cluster(context, made),
        pools=tuple(_of_pool(each) for each in pools.values()),
        storage=tuple(
            StorageNeeds(
                each.name,
                file_system=each.fsx_lustre.id if each.fsx_lustre else None,
                bucket=each.s3.bucket if each.s3 else None,
                at=SPEC / ("storage", index),
            )
            for index, each in enumerate(StorageSection.of(context.spec).storage)
        ),
    )


def _of_cluster(context: Context, made: Cluster) -> tuple[ServiceQuota, ...]:
    found = [quota for group in made.node_groups for quota in _of_group(context, group)]
    if made.network.vpc is None:
        found.append(ServiceQuota(*other_quota("vpcs"), 1, "the cluster's own"))
    return tuple(found)


def _of_group(context: Context, group: NodeGroup) -> list[ServiceQuota]:
    nodes, instance = (
        group.max_size or 0,
        context.catalog.instance(group.instance_types[0]),
    )
    code, name = vcpu_quota(group.instance_types[0], "on-demand")
    vcpus = instance.vcpus if instance else 0
    return [
        ServiceQuota(
            "ec2",
            code,
            name,
            nodes * vcpus,
            f"{nodes} × {group.instance_types[0]} of {vcpus} vCPUs",
        ),
        _disks(nodes * (group.volume or 0)),
        _interfaces(nodes, "one a system node"),
    ]


def _of_pool(pool: Pool) -> PoolNeeds:
    spec, instance = pool.spec, pool.instance
    code, name = vcpu_quota(
        instance.name, "spot" if spec.capacity_types == ("spot",) else "on-demand"
    )
    cards = len(instance.efa_layout()) if pool.efa else 1
    # Blocks are counted too: no page was found that says that they are free of the On-Demand quota.
    quotas = (
        ServiceQuota("ec2", code, name, instance.vcpus, "vCPUs"),
        _disks(_root_gib(pool)),
        _interfaces(cards, "one a network card with EFA" if pool.efa else "one a node"),
    )
    return PoolNeeds(
        pool.name,
        instance.name,
        pool.zones,
        pool.nodes,
        pool.static,
        pool.block,
        quotas,
        _devices(pool),
        _purchase(pool) if _sizes(pool) else None,
    )


def _disks(gib: int) -> ServiceQuota:
    return ServiceQuota(*other_quota("gp3"), gib, "root volumes, here in GiB")


def _interfaces(count: int, what: str) -> ServiceQuota:
    return ServiceQuota(*other_quota("interfaces"), count, what)


def _root_gib(pool: Pool) -> int:
    volume = pool.spec.root_volume
    return (
        ROOT_GIB[pool.local_storage]
        if volume is None
        else ceil(volume.size.value / 1024**3)
    )


def _purchase(pool: Pool) -> Purchase:
    block = pool.spec.block
    starts = block.starts if block else None
    ends = block.ends if block else None
    return Purchase(
        pool.name,
        pool.instance.name,
        pool.zones[0],
        pool.nodes,
        pool.block,
        _sizes(pool),
        starts,
        ends,
        _hours(starts, ends),
    )


def _sizes(pool: Pool) -> tuple[tuple[str, int], ...]:
    """Each reservation of a pool and its nodes."""
    return tuple((one.id, one.nodes or pool.nodes) for one in pool.spec.reservations)


def _devices(pool: Pool) -> tuple[tuple[str, str], ...]:
    share = pool.share
    counted = [(share.resource, share.accelerators), (EFA, share.efa)]
    found = [(name, str(count)) for name, count in counted if name and count]
    if share.huge_pages > Quantity(0):
        found.append((HUGEPAGES, str(share.huge_pages)))
    return tuple(found)


def _hours(starts: str | None, ends: str | None) -> int | None:
    """How long a block lasts; blocks are sold by whole days (EC2 API, CapacityDurationHours)."""
    if starts is None or ends is None:
        return None
    time = datetime.fromisoformat(ends) - datetime.fromisoformat(starts)
    return ceil(time.total_seconds() / 86400) * 24
