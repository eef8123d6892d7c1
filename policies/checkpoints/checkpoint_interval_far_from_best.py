from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.units import Duration


@rule("RUN053", severity=Severity.WARNING, params={"percent": 5})
def checkpoint_interval_far_from_best(
    schedule: CheckpointSchedule, world: World
) -> Iterator[Finding]:
    """A job saves so often, or so rarely, that it loses much more time than necessary.

    A save takes the time to write it, a failure half an interval: at an interval T the share C / T + T / (2 · MTBF) is
    lost, which is least at T = √(2 · C · MTBF) (Young 1974, doi:10.1145/361147.361115; Daly 2006,
    doi:10.1016/j.future.2004.11.016). Reported is what loses `percent` of the time more than that.

    C is the size of the model's checkpoint against what its file system writes all the time, bursts left out (FSx for
    Lustre user guide, ssd-storage). The MTBF is that of all nodes of the job: of GPUs one failure in 50,677 hours each
    (419 in 54 days on 16,384 of them, arXiv:2407.21783, section 3.3.4), or `meanTimeBetweenFailures` of the pool. With
    `async: true` a save costs no time but that of the file system. `trainyard report` has a table of all jobs.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15", throughputPerTiB: 125}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], torchVersion: "2.12",
          checkpoint: {path: /data/llama, every: 1h, keep: 2}, model: {parameters: 8.03e9, sharding: full}}]

        nodePools: [{name: gpu, meanTimeBetweenFailures: 200h}]
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 500}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 12h},
          torchVersion: "2.12", model: {parameters: 8.03e9, sharding: full}}]

        # params: {percent: 1}
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 125}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 1h},
          torchVersion: "2.12", model: {parameters: 8.03e9, sharding: full}}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15", throughputPerTiB: 125}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], torchVersion: "2.12",
          checkpoint: {path: /data/llama, every: 10m, keep: 2, async: true},
          model: {parameters: 8.03e9, sharding: full}}]

    ## Passes

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 125}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 1h},
          torchVersion: "2.12", model: {parameters: 8.03e9, sharding: full}}]

        # params: {percent: 30}
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15", throughputPerTiB: 125}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], torchVersion: "2.12",
          checkpoint: {path: /data/llama, every: 1h, keep: 2}, model: {parameters: 8.03e9, sharding: full}}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15", throughputPerTiB: 125}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], torchVersion: "2.12",
          checkpoint: {path: /data/llama, every: 1h, keep: 2, async: true},
          model: {parameters: 8.03e9, sharding: full}}]
    """
    every, write, best = schedule.every, schedule.write, schedule.best
    if every is None or write is None or (schedule.shortest_write or 0) > every:
        return  # RES046 reports that not even a burst is fast enough
    takes = Duration(round(write))
    if write > every:
        yield Finding(
            f"a checkpoint of job `{schedule.name}` takes {takes} to write at {schedule.write_speed:,.0f} MB/s, as "
            f"fast as {schedule.write_bound} at all times, and the next one is due after {Duration(every)}",
            schedule.where("every"),
            label="slower than the interval",
            help="save less often, or to a faster file system",
            spec_help=_every(schedule, best or 2 * int(write)),
        )
        return
    if best is None:
        return  # how often nodes fail is known of accelerated ones
    lost, least = schedule.lost(every), schedule.lost(best)
    assert lost is not None
    assert least is not None
    if lost - least <= world.param("percent") / 100:
        return
    why = f"a failure in {_hours(schedule.mtbf)} repeats half of it"
    if every < best:
        why = f"each save takes {takes} at {schedule.write_speed:,.0f} MB/s"
    yield Finding(
        f"job `{schedule.name}` loses {lost:.0%} of its time, as it saves every {Duration(every)} and {why}; every "
        f"{Duration(best)} it would lose {least:.1%}",
        schedule.where("every"),
        label="too often" if every < best else "too rarely",
        help=f"save every {Duration(best)}, or while training goes on",
        spec_help=_every(schedule, best),
    )


def _every(schedule: CheckpointSchedule, seconds: int) -> str:
    least = Duration(max(-(-seconds // 60), 1) * 60)
    help = f"write `every: {least}`, or take a faster file system"
    if schedule.asynchronous:
        return help
    return f"{help}; or `async: true` if training goes on meanwhile"


def _hours(seconds: int | None) -> str:
    return f"{(seconds or 0) / 3600:,.0f} hours"
