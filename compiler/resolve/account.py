"""The account: what a person must ask AWS for, buy or push before the bootstrap, with the figures of this spec."""

from __future__ import annotations

import re
from datetime import datetime
from math import ceil

from compiler.catalog.account import opt_in, other_quota, vcpu_quota
from compiler.plan.account import Account, EcrImage, PoolDevices, Purchase, ServiceQuota
from compiler.plan.cluster import Cluster
from compiler.plan.jobs import EFA, HUGEPAGES
from compiler.plan.units import Quantity
from compiler.resolve.context import Context
from compiler.resolve.pools import Pool
from compiler.resolve.share import ROOT_GIB

_ECR = re.compile(
    r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([^:@]+)(?::([^@]+))?(?:@(sha256:\w+))?\Z"
)


def account(context: Context, pools: dict[str, Pool], made: Cluster) -> Account:
    """What the account must have."""
    images = (each.image for each in context.spec.jobs)
    systems = (each.fsx_lustre.id for each in context.spec.storage if each.fsx_lustre)
    return Account(
        opt_in=opt_in(context.spec.region),
        quotas=(*_vcpus(context, pools, made), *_others(pools, made)),
        purchases=tuple(_purchase(each) for each in pools.values() if _sizes(each)),
        images=tuple(dict.fromkeys(found for image in images if (found := _ecr_image(image)) is not None)),
        file_systems=tuple(dict.fromkeys(systems)),
        devices=tuple(_devices(each) for each in pools.values()),
    )


def _vcpus(context: Context, pools: dict[str, Pool], made: Cluster) -> list[ServiceQuota]:
    """By quota, the vCPUs of all nodes that there may be.

    Blocks are counted too: no page was found that says that they are free of the On-Demand quota.
    """
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for pool in pools.values():
        market = "spot" if pool.spec.capacity.type == "spot" else "on-demand"
        nodes = counts.setdefault(vcpu_quota(pool.instance.name, market), {})
        nodes[pool.instance.name] = nodes.get(pool.instance.name, 0) + pool.nodes
    for group in made.node_groups:
        nodes = counts.setdefault(vcpu_quota(group.instance_types[0], "on-demand"), {})
        nodes[group.instance_types[0]] = nodes.get(group.instance_types[0], 0) + (group.max_size or 0)
    return [_vcpu_quota(context, code, name, nodes) for (code, name), nodes in counts.items()]


def _vcpu_quota(context: Context, code: str, name: str, nodes: dict[str, int]) -> ServiceQuota:
    types = context.catalog.instance_types
    needed = sum(count * types[name].vcpus for name, count in nodes.items() if name in types)
    return ServiceQuota("ec2", code, name, needed, ", ".join(
        f"{count} × {name} of {types[name].vcpus} vCPUs" for name, count in nodes.items() if name in types))


def _others(pools: dict[str, Pool], made: Cluster) -> list[ServiceQuota]:
    disks = sum(pool.nodes * _root_gib(pool) for pool in pools.values())
    disks += sum((group.max_size or 0) * (group.volume or 0) for group in made.node_groups)
    interfaces = sum(pool.nodes * (len(pool.instance.efa_layout()) if pool.efa else 1) for pool in pools.values())
    interfaces += sum(group.max_size or 0 for group in made.node_groups)
    found = [ServiceQuota(*other_quota("gp3"), ceil(disks / 1024), "root volumes"),
             ServiceQuota(*other_quota("interfaces"), interfaces, "one a node, or one a network card with EFA")]
    if made.network.vpc is None:
        zones = len(made.network.zones)
        found += [ServiceQuota(*other_quota("vpcs"), 1, "the cluster's own"),
                  ServiceQuota(*other_quota("addresses"), zones, "a NAT gateway in each zone")]
    return found


def _root_gib(pool: Pool) -> int:
    volume = pool.spec.root_volume
    return ROOT_GIB[pool.local_storage] if volume is None else ceil(volume.size.value / 1024**3)


def _purchase(pool: Pool) -> Purchase:
    capacity = pool.spec.capacity
    return Purchase(
        pool.name, pool.instance.name, pool.zones[0], pool.nodes, pool.block, _sizes(pool), capacity.starts,
        capacity.ends, _hours(capacity.starts, capacity.ends) if pool.block else None,
    )


def _sizes(pool: Pool) -> tuple[tuple[str, int], ...]:
    """Each reservation of a pool and its nodes."""
    capacity = pool.spec.capacity
    if capacity.reservations:
        return tuple((each.id, each.nodes) for each in capacity.reservations)
    return ((capacity.id, pool.nodes),) if capacity.id else ()


def _devices(pool: Pool) -> PoolDevices:
    share = pool.share
    counted = [(share.resource, share.accelerators), (EFA, share.efa)]
    found = [(name, str(count)) for name, count in counted if name and count]
    if share.huge_pages > Quantity(0):
        found.append((HUGEPAGES, str(share.huge_pages)))
    return PoolDevices(pool.name, pool.nodes, pool.static, tuple(found))


def _hours(starts: str | None, ends: str | None) -> int | None:
    """How long a block lasts; blocks are sold by whole days (EC2 API, CapacityDurationHours)."""
    if starts is None or ends is None:
        return None
    time = datetime.fromisoformat(ends) - datetime.fromisoformat(starts)
    return ceil(time.total_seconds() / 86400) * 24


def _ecr_image(image: str) -> EcrImage | None:
    """An image of a private ECR registry (ECR user guide, Registries: ACCOUNT.dkr.ecr.REGION.amazonaws.com)."""
    found = _ECR.match(image)
    if found is None:
        return None
    owner, region, repository, tag, digest = found.groups()
    return EcrImage(owner, region, repository, f"imageDigest={digest}" if digest else f"imageTag={tag or 'latest'}")
