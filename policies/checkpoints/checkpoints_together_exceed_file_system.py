from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.core.pools.plan import Pool
from trainyard.core.queues.plan import Queue
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.units import Duration
from trainyard.plan import Plan


@rule("RUN197", severity=Severity.WARNING)
def checkpoints_together_exceed_file_system(plan: Plan, world: World) -> Iterator[Finding]:
    """Jobs that run together save more to one file system than it can write.

    Each job writes one checkpoint in each of its intervals; the file system has one throughput for all of them (FSx
    for Lustre user guide, performance: of the file system as a whole). Added up are jobs that fit on the nodes of
    their pools and into the quotas of their queues together. Where the sum is more than it writes at all times, saves
    take longer than their intervals, and the jobs wait for them; more than bursts reach is an error. A job that is too
    much alone is RUN053's.

    ## Fails

        nodePools: [{name: gpu, nodes: {max: 8}}]
        queues: [{name: research, quota: [{pool: gpu, nodes: 8}]}]
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15", throughputPerTiB: 125}}}]
        jobs:
          - {name: llama, mounts: [{storage: data, path: /data}], torchVersion: "2.12",
             checkpoint: {path: /data/llama, every: 17m, keep: 2, async: true},
             model: {parameters: 8.03e9, sharding: full}}
          - {name: mistral, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py], nodes: 4,
             mounts: [{storage: data, path: /data}], torchVersion: "2.12",
             checkpoint: {path: /data/mistral, every: 17m, keep: 2, async: true},
             model: {parameters: 8.03e9, sharding: full}}

    ## Passes

        nodePools: [{name: gpu, nodes: {max: 8}}]
        queues: [{name: research, quota: [{pool: gpu, nodes: 8}]}]
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 500}}}]
        jobs:
          - {name: llama, mounts: [{storage: data, path: /data}], torchVersion: "2.12",
             checkpoint: {path: /data/llama, every: 1h, keep: 2}, model: {parameters: 8.03e9, sharding: full}}
          - {name: mistral, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py], nodes: 4,
             mounts: [{storage: data, path: /data}], torchVersion: "2.12",
             checkpoint: {path: /data/mistral, every: 1h, keep: 2}, model: {parameters: 8.03e9, sharding: full}}
    """
    by_system: dict[str, list[CheckpointSchedule]] = {}
    for schedule in plan.of(CheckpointSchedule):
        if schedule.file_system and _demand(schedule) and schedule.write_speed:
            by_system.setdefault(schedule.file_system, []).append(schedule)
    for schedules in by_system.values():
        together = _together(schedules, world)
        speed = max(each.write_speed or 0 for each in schedules)
        demand = sum(map(_demand, together))
        alone = any((each.write or 0) > (each.every or 0) for each in together)
        if len(together) < 2 or alone or demand <= speed:
            continue
        peak = max(each.peak_speed or 0 for each in schedules)
        first = max(together, key=_demand)
        least = Duration(-(-int((first.every or 0) * demand / speed) // 60) * 60)
        names = listed([each.name for each in together[:3]])
        more = len(together) - 3
        yield Finding(
            f"jobs {names}{f' and {more} more' if more > 0 else ''} save {demand:,.0f} MB/s together to storage "
            f"`{first.storage}`, which writes {speed:,.0f} MB/s",
            first.where("every"),
            label="their saves take longer than the interval",
            help=f"save every {least}, or to a faster file system, or to several",
            severity=Severity.ERROR if peak and demand > peak else None,
        )


def _demand(schedule: CheckpointSchedule) -> float:
    """The MB/s that a job writes on average; 0 where that is not known."""
    if not schedule.size or not schedule.every:
        return 0
    return schedule.size / 1e6 / schedule.every


def _together(schedules: Sequence[CheckpointSchedule], world: World) -> list[CheckpointSchedule]:
    """Jobs that fit on the nodes of their pools together: those that write most for each node first."""
    works = {(work.namespace, work.name): work for work in world.works}
    left: dict[tuple[str, str], int | None] = {}
    chosen = []
    for schedule in sorted(schedules, key=lambda each: -_demand(each) / max(each.nodes, 1)):
        work = works.get((schedule.namespace, schedule.name))
        bounds = [("pool", schedule.pool)]
        left.setdefault(bounds[0], _nodes_of(schedule.pool, world))
        if work is not None and work.queue is not None:
            bounds.append(("queue", work.queue.name))
            left.setdefault(bounds[1], _nodes_in_quota(work, work.queue))
        if all(_fits(schedule, left[bound]) for bound in bounds):
            chosen.append(schedule)
            for bound in bounds:
                free = left[bound]
                left[bound] = None if free is None else free - schedule.nodes
    return chosen


def _fits(schedule: CheckpointSchedule, free: int | None) -> bool:
    return free is None or schedule.nodes <= free


def _nodes_in_quota(work: Work, queue: Queue) -> int | None:
    """How many nodes like those of a job its queue has a quota for; ``None`` where it may borrow, or without one."""
    if queue.cohort is not None or work.accelerator is None:
        return None
    resource, count = work.accelerator
    nominal = [
        quota.nominal.value
        for flavor in queue.flavors()
        for quota in flavor.quotas
        if quota.resource == resource
    ]
    return sum(nominal) // count if nominal else None


def _nodes_of(name: str, world: World) -> int | None:
    """The most nodes of a pool; ``None`` without a limit that is known."""
    pools: list[Pool] = [pool for pool in world.pools if name in (pool.title, pool.name)]
    counts = []
    for pool in pools:
        bounds = [world.most_nodes(pool, instance) for instance in world.types(pool)]
        if not bounds or None in bounds:
            limit = pool.limits.get("nodes")
            bounds = [limit.value if limit is not None else None]
        counts.append(bounds[0])
    known = [count for count in counts if count is not None]
    return sum(known) if pools and len(known) == len(counts) else None
