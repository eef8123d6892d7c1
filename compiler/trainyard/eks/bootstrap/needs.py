"""What a person must request from AWS or buy before the bootstrap, with the figures of this spec."""

from __future__ import annotations

from datetime import datetime
from math import ceil

from trainyard.catalog.account import opt_in, other_quota, vcpu_quota
from trainyard.core.network.spec import NetworkSection
from trainyard.core.pods.plan import EFA, HUGEPAGES
from trainyard.core.pools.pools import Pool
from trainyard.core.storage.plan import MadeBucket, MadeFileSystem
from trainyard.core.storage.storages import Storage, resolve_storage
from trainyard.eks.cluster.account import Account, PoolNeeds, Purchase, ServiceQuota, StorageNeeds
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.eks.settings.launcher import launcher_of
from trainyard.language.units import Quantity
from trainyard.plan.context import Context


def account(context: Context, pools: dict[str, Pool], cluster: Cluster) -> Account:
    """What the account must have: by pool, by storage, and for the cluster itself.

    There are no totals, so that no pool changes the page of another one.
    """
    storage = map(_of_storage, context.once(resolve_storage).values())
    return Account(
        opt_in=opt_in(context.spec.region),
        quotas=_of_cluster(context, cluster),
        pools=tuple(_of_pool(context, pool) for pool in pools.values()),
        storage=tuple(storage),
    )


def _of_storage(storage: Storage) -> StorageNeeds:
    spec, at = storage.spec, storage.at
    if spec.existing_lustre is not None:
        return StorageNeeds(spec.name, file_system=spec.existing_lustre.id, at=at)
    if spec.disk is not None:
        return StorageNeeds(spec.name, disk=spec.disk.each, at=at)
    if spec.existing_disk is not None:
        return StorageNeeds(spec.name, volume=spec.existing_disk.id, at=at)
    key = None
    if storage.made is not None:
        key = storage.made.key
    return StorageNeeds(
        spec.name,
        bucket=storage.bucket,
        read_only=storage.read_only,
        key=key,
        made=storage.made,
        quotas=_of_made(storage.made),
        at=at,
    )


def _of_made(made: MadeBucket | MadeFileSystem | None) -> tuple[ServiceQuota, ...]:
    """What a file system takes of the quotas of FSx, by its deployment: how many there are, and their size."""
    if not isinstance(made, MadeFileSystem):
        return ()
    deployment = made.deployment.lower().partition("_")[0]
    if deployment == "persistent":
        deployment = made.deployment.lower()
    return (
        ServiceQuota(*other_quota(f"{deployment} systems"), 1, "the file system"),
        ServiceQuota(*other_quota(f"{deployment} size"), made.size, "its size in GiB"),
    )


def _of_cluster(context: Context, cluster: Cluster) -> tuple[ServiceQuota, ...]:
    quotas: list[ServiceQuota] = []
    for group in cluster.node_groups:
        quotas += _of_group(context, group)
    if NetworkSection.of(context.spec).network.existing is None:
        quotas.append(ServiceQuota(*other_quota("vpcs"), 1, "the cluster's own"))
    return tuple(quotas)


def _of_group(context: Context, group: NodeGroup) -> list[ServiceQuota]:
    type_name = group.instance_types[0]
    nodes = group.max_size or 0
    instance = context.catalog.instance(type_name)
    vcpus = instance.vcpus if instance else 0
    code, name = vcpu_quota(type_name, "on-demand")
    what = f"{nodes} × {type_name} of {vcpus} vCPUs"
    return [
        ServiceQuota("ec2", code, name, nodes * vcpus, what),
        _disks(nodes * (group.volume or 0)),
        _interfaces(nodes, "one a system node"),
    ]


def _of_pool(context: Context, pool: Pool) -> PoolNeeds:
    spec, instance = pool.spec, pool.instance
    interfaces = _interfaces(1, "one a node")
    if pool.efa:
        cards = launcher_of(pool).interfaces(instance)
        interfaces = _interfaces(cards, "one a network card with EFA")
    named = launcher_of(pool).quota(context, pool)
    if named is None:
        quotas = (*_vcpus(context, pool), _disks(_root_gib(pool)), interfaces)
    else:
        service, name, sure = named
        quotas = (ServiceQuota(service, name.replace(" ", "_"), name, 1, "the node", sure=sure),)
    return PoolNeeds(
        pool=pool.name,
        instance_type=instance.name,
        zones=pool.zones,
        nodes=pool.nodes,
        static=pool.static,
        block=pool.block,
        quotas=quotas,
        devices=_devices(pool),
        purchase=_purchase(pool) if spec.reservations else None,
        made_by=launcher_of(pool).made_by,
        spot="spot" in spec.capacity_types,
    )


def _vcpus(context: Context, pool: Pool) -> list[ServiceQuota]:
    """The vCPUs of a node by quota, for each way in which it may be bought: those of the largest type of a family."""
    names = [pool.instance.name, *pool.spec.instance_types]
    found = [context.catalog.instance(name) for name in names]
    largest: dict[tuple[str, str], int] = {}
    sure: set[tuple[str, str]] = set()
    for kind in pool.spec.capacity_types:
        # No page was found that says whether blocks are free of the On-Demand quota.
        established = kind != "block"
        bought = "spot" if kind == "spot" else "on-demand"
        for instance in filter(None, found):
            quota = vcpu_quota(instance.name, bought)
            largest[quota] = max(instance.vcpus, largest.get(quota, 0))
            if established:
                sure.add(quota)
    return [
        ServiceQuota("ec2", *quota, vcpus, "vCPUs", sure=quota in sure)
        for quota, vcpus in largest.items()
    ]


def _disks(gib: int) -> ServiceQuota:
    return ServiceQuota(*other_quota("gp3"), gib, "root volumes, here in GiB")


def _interfaces(count: int, what: str) -> ServiceQuota:
    return ServiceQuota(*other_quota("interfaces"), count, what)


def _root_gib(pool: Pool) -> int:
    return ceil(pool.root_size.value / 1024**3)


def _purchase(pool: Pool) -> Purchase:
    block = pool.spec.block
    starts = block.starts if block else None
    ends = block.ends if block else None
    return Purchase(
        pool=pool.name,
        instance_type=pool.instance.name,
        zone=pool.zones[0],
        nodes=pool.nodes,
        block=pool.block,
        sizes=_sizes(pool),
        starts=starts,
        ends=ends,
        hours=_hours(starts, ends),
    )


def _sizes(pool: Pool) -> tuple[tuple[str, int], ...]:
    """Each reservation of a pool and its nodes."""
    return tuple(
        (reservation.id, reservation.nodes or pool.nodes) for reservation in pool.spec.reservations
    )


def _devices(pool: Pool) -> tuple[tuple[str, str], ...]:
    share = pool.share
    devices: list[tuple[str, str]] = []
    if share.resource and share.accelerators:
        devices.append((share.resource, str(share.accelerators)))
    if share.efa:
        devices.append((EFA, str(share.efa)))
    if share.huge_pages > Quantity(0):
        devices.append((HUGEPAGES, str(share.huge_pages)))
    return tuple(devices)


def _hours(starts: str | None, ends: str | None) -> int | None:
    """How long a block lasts; blocks are sold by whole days (EC2 API, CapacityDurationHours)."""
    if starts is None or ends is None:
        return None
    time = datetime.fromisoformat(ends) - datetime.fromisoformat(starts)
    return ceil(time.total_seconds() / 86400) * 24
