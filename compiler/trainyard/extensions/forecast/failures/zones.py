"""The zones that a job may run in, and that in which its checkpoints lie."""

from __future__ import annotations

from trainyard.core.storage.plan import MadeFileSystem
from trainyard.core.storage.spec import StorageSection
from trainyard.extensions.forecast.failures.footing import Footing
from trainyard.extensions.forecast.planned import PlannedCluster


def zones_of(planned: PlannedCluster, pool: str) -> tuple[str, ...]:
    """The zones of a pool of the spec; () where the plan does not say them."""
    parts = planned.node_pools(pool)
    zones = [zone for part in parts for zone in part.zones or ()]
    return tuple(dict.fromkeys(zones))


def zone_again(planned: PlannedCluster, job: Footing) -> str:
    """What of its first pool's zones a job cannot do without: "" where it may go on in another one."""
    zones = zones_of(planned, job.gang.pool)
    zone = _zone_of_checkpoints(planned, job)
    if zone is not None and zone in zones:
        return f"zone {zone} again: its checkpoints lie there"
    if not others(planned, job):
        return f"{' or '.join(zones) or 'its zone'} again: no pool of the job has another zone"
    return ""


def others(planned: PlannedCluster, job: Footing) -> dict[str, str]:
    """The pools in which a job may go on without the first zone of its first pool, and the zones that they have."""
    run = job.gang
    lost = zones_of(planned, run.pool)[:1]
    found = {}
    for pool in (run.pool, *run.fallbacks):
        left = [zone for zone in zones_of(planned, pool) if zone not in lost]
        if left:
            found[pool] = " or ".join(left)
    return found


def _zone_of_checkpoints(planned: PlannedCluster, job: Footing) -> str | None:
    """The zone of the file system or volume that has them; ``None`` where that is not known, or they are in a
    bucket."""
    if job.schedule is None:
        return None
    name = job.schedule.storage
    for made in planned.plan.of(MadeFileSystem):
        if made.name == name:
            return made.zone or None
    for declared in StorageSection.of(planned.spec).storage:
        if declared.name == name:
            kept = declared.fsx_lustre or declared.existing_disk or declared.disk
            return kept.zone if kept is not None else None
    return None
