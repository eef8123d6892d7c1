"""Checks of pools: values that are valid alone and contradict each other or a fact."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from trainyard.core.pools.pools import Pool
from trainyard.plan.context import Context

_RESERVATION = "EC2 API, CapacityReservation (2016-11-15)"


def check_pools(context: Context, pools: Mapping[str, Pool]) -> None:
    """Everything that is wrong about pools, alone or together with others."""
    for pool in pools.values():
        _one_zone(context, pool)
        _spread(context, pool)
        _disks(context, pool)
        _block(context, pool)
        if pool.spec.burn_in is not None:
            _burn_in(context, pool)
    _reservations(context, pools)


_SOLD = (1, 2, 4, 8, 16, 32, 64)
_BY_DAY, _WEEK = 14, 7
_PURCHASE = "EC2 user guide, capacity-blocks-purchase"


def _block(context: Context, pool: Pool) -> None:
    """Sizes and times in which EC2 sells no Capacity Block: an id or a number is likely wrong."""
    for index, capacity in enumerate(pool.spec.capacity):
        block = capacity.block
        if block is None:
            continue
        at = pool.at / "capacity" / index / "block"
        for number, reservation in enumerate(block.reservations):
            nodes = reservation.nodes
            if nodes is not None and nodes not in _SOLD:
                sold = ", ".join(map(str, _SOLD))
                context.doubt(
                    "RES244",
                    f"`{reservation.id}` has {nodes} nodes, and Capacity Blocks have {sold}",
                    at / "reservations" / number / "nodes",
                    "write the TotalInstanceCount that `aws ec2 describe-capacity-reservations` shows",
                    source=_PURCHASE,
                )
        if block.starts is None or block.ends is None:
            continue
        days = _days(block.starts, block.ends)
        if days > _BY_DAY and days % _WEEK:
            context.doubt(
                "RES244",
                f"the block lasts {days} days, and EC2 sells 1 to {_BY_DAY} days or whole weeks",
                at / "ends",
                "write the StartDate and EndDate that `aws ec2 describe-capacity-reservations` shows; a block that was "
                "extended may last other times",
                source=_PURCHASE,
            )


def _days(starts: str, ends: str) -> int:
    """Whole days; a block that starts later on its first day lasts hours less."""
    time = datetime.fromisoformat(ends) - datetime.fromisoformat(starts)
    return math.ceil(time.total_seconds() / 86400)


def _burn_in(context: Context, pool: Pool) -> None:
    """The test is one of NVIDIA's GPUs, whole ones, on nodes that Karpenter taints when they come."""
    why, help = "", "remove it, or take a pool of whole NVIDIA GPUs"
    if not pool.instance.gpus:
        why = f"`{pool.instance.name}` has no NVIDIA GPUs"
    elif pool.spec.gpu_sharing is not None:
        why = "its GPUs are shared"
    elif pool.instance.arch != "amd64" and pool.spec.burn_in is not None:
        diagnostics = pool.spec.burn_in.diagnostics
        images = [pool.spec.burn_in.image]
        if diagnostics is not None:
            images.append(diagnostics.image)
        if None in images:
            why = (
                "the image of the test is for `amd64`, "
                f"and `{pool.instance.name}` is `{pool.instance.arch}`"
            )
            help = (
                "write `image:` with nccl-tests for it, and one with DCGM where `diagnostics` run"
            )
    elif pool.launcher.untested:
        why = pool.launcher.untested
        help = "remove one of them: Karpenter alone has startup taints"
    if why:
        context.fault(
            "RES176", f"pool `{pool.name}` tests new nodes, and {why}", pool.at / "burnIn", help
        )


def _one_zone(context: Context, pool: Pool) -> None:
    """A reservation, a Capacity Block too, lies in one zone (EC2 API, CapacityReservation AvailabilityZone)."""
    reservations = pool.spec.reservations
    if len(reservations) != 1:
        return
    buys_more = any(not capacity.reservations for capacity in pool.spec.capacity)
    if len(pool.zones) <= 1 or buys_more:
        return
    context.fault(
        "RES039",
        f"reservation `{reservations[0].id}` "
        f"of pool `{pool.name}` lies in one zone, and the pool is in "
        f"{len(pool.zones)}",
        pool.at / "zones",
        "write `zones:` with the one that the reservation is in",
        source=_RESERVATION,
    )


def _reservations(context: Context, pools: Mapping[str, Pool]) -> None:
    """A reservation is of one type, in one zone, of one kind, and has one start and one end."""
    first_of: dict[str, Pool] = {}
    for pool in pools.values():
        for index, reservation in enumerate(pool.spec.reservations):
            first = first_of.setdefault(reservation.id, pool)
            apart = _apart(first, pool)
            if apart is None:
                continue
            first_says, pool_says = apart
            context.fault(
                "RES039",
                f"reservation `{reservation.id}` is "
                f"of {first_says} in pool `{first.name}` and of "
                f"{pool_says} in pool `{pool.name}`",
                pool.at_capacity / "reservations" / index / "id",
                f"write the reservation of pool `{pool.name}`: `aws ec2 describe-capacity-reservations` "
                "shows the type and zone of each",
                source=_RESERVATION,
            )


def _apart(one: Pool, other: Pool) -> tuple[str, str] | None:
    """What two pools say of one reservation, where it is not the same."""
    if one.instance.name != other.instance.name:
        own_type = f"`{one.instance.name}`"
        return own_type, f"`{other.instance.name}`"
    if set(one.zones).isdisjoint(other.zones):
        own_zone = f"zone `{one.zones[0]}`"
        return own_zone, f"zone `{other.zones[0]}`"
    kind = one.spec.capacity_types[0]
    other_kind = other.spec.capacity_types[0]
    if kind != other_kind:
        return f"type `{kind}`", f"type `{other_kind}`"
    ends = _end(one)
    other_ends = _end(other)
    if ends and other_ends and ends != other_ends:
        return f"an end at {ends}", f"an end at {other_ends}"
    return None


def _end(pool: Pool) -> str | None:
    block = pool.spec.block
    if block is not None:
        return block.ends
    return None


# EC2 user guide, placement-strategies: running instances a zone of a group of strategy `spread`, racks apart (the only
# spread that there is outside of Outposts).
_SPREAD = 7


def _spread(context: Context, pool: Pool) -> None:
    most = _SPREAD * len(pool.zones)
    if pool.placement == "spread" and pool.nodes > most:
        context.fault(
            "RES040",
            f"pool `{pool.name}` has up to {pool.nodes} nodes, and a placement group of strategy "
            f"`spread` has at most {_SPREAD} a zone",
            pool.at / "placement",
            f"write `placement: cluster` or `partition`, or at most `max: {most}`",
            source="EC2 user guide, placement-strategies",
        )


def _disks(context: Context, pool: Pool) -> None:
    if pool.spec.local_storage == "raid0" and not pool.instance.nvme_gb:
        context.fault(
            "RES041",
            f"`{pool.instance.name}` has no NVMe disks",
            pool.at / "localStorage",
            "remove it: images and logs lie on the root volume, whose size `rootVolume` says",
            source="EC2 API, InstanceTypeInfo InstanceStorageInfo",
        )
