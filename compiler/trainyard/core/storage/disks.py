"""The zone of an EBS volume that outlives its pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.core.pools.pools import resolve_pools
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.core.storage.kinds import CreatedDisk


def disk_zone(context: Context, name: str, disk: CreatedDisk, at: Route) -> str | None:
    """The zone of volumes that stay: a volume never leaves its zone. One of a pod is made where the pod is."""
    if disk.each == "pod":
        return None
    if disk.zone is not None:
        return disk.zone
    pools = context.once(resolve_pools).values()
    of_pools: set[str] = set()
    for pool in pools:
        of_pools.update(pool.zones)
    zones = sorted(of_pools)
    if len(zones) != 1:
        help = "add `zone:`"
        if zones:
            help = f"add `zone: {zones[0]}`, that of the jobs that mount it"
        context.fault(
            "RES182",
            f"the zone of the volume is not said, and the pools are in {listed(zones) or 'none'}",
            at,
            help,
            source="EBS user guide, ebs-volumes: a volume is attached in its own zone",
        )
        return None
    context.derive(
        f"storage/{name}",
        "zone",
        zones[0],
        "the one zone of the pools: a volume is attached in its own zone",
        "EBS user guide, ebs-volumes",
    )
    return zones[0]
