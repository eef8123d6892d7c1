"""Values that contradict each other, or a fact: each could be written alone, together they never work."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.resolve.context import Context
from compiler.subjects.pools.pools import Pool

_RESERVATION = "EC2 API, CapacityReservation (2016-11-15)"


def check_pools(context: Context, pools: Mapping[str, Pool]) -> None:
    """Everything about pools that is wrong by itself or beside another."""
    for pool in pools.values():
        _one_zone(context, pool)
        _spread(context, pool)
        _disks(context, pool)
    _reservations(context, pools)


def _one_zone(context: Context, pool: Pool) -> None:
    """A reservation, a Capacity Block too, lies in one zone (EC2 API, CapacityReservation AvailabilityZone)."""
    ids = pool.spec.capacity.ids
    if len(ids) == 1 and len(pool.zones) > 1:
        context.fault(
            "RES039",
            f"reservation `{ids[0]}` of pool `{pool.name}` lies in one zone, and the pool is in "
            f"{len(pool.zones)}",
            pool.at / "zones",
            "write `zone:` with the one that the reservation is in",
            source=_RESERVATION,
        )


def _reservations(context: Context, pools: Mapping[str, Pool]) -> None:
    """A reservation is of one type, in one zone, of one kind, and has one start and one end."""
    seen: dict[str, Pool] = {}
    for pool in pools.values():
        for id in pool.spec.capacity.ids:
            before = seen.setdefault(id, pool)
            apart = _apart(before, pool)
            if apart is not None:
                key = "id" if pool.spec.capacity.id else "reservations"
                context.fault(
                    "RES039",
                    f"reservation `{id}` is of {apart[0]} in pool `{before.name}` and of "
                    f"{apart[1]} in pool `{pool.name}`",
                    pool.at / "capacity" / key,
                    f"write the reservation of pool `{pool.name}`: `aws ec2 describe-capacity-reservations` "
                    "shows the type and zone of each",
                    source=_RESERVATION,
                )


def _apart(one: Pool, other: Pool) -> tuple[str, str] | None:
    """What two pools say of one reservation, where it is not the same."""
    if one.instance.name != other.instance.name:
        return f"`{one.instance.name}`", f"`{other.instance.name}`"
    if not set(one.zones) & set(other.zones):
        return f"zone `{one.zones[0]}`", f"zone `{other.zones[0]}`"
    kinds = tuple(each.spec.capacity.type for each in (one, other))
    if kinds[0] != kinds[1]:
        return f"type `{kinds[0]}`", f"type `{kinds[1]}`"
    ends = tuple(each.spec.capacity.ends for each in (one, other))
    if all(ends) and ends[0] != ends[1]:
        return f"an end at {ends[0]}", f"an end at {ends[1]}"
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
