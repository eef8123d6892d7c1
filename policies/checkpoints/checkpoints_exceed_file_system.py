from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("RUN054", severity=Severity.WARNING)
def checkpoints_exceed_file_system(plan: Plan) -> Iterator[Finding]:
    """The checkpoints that jobs keep are together larger than their file system.

    The next one is written before the oldest is removed, so that a job needs room for one more than it keeps; a full
    file system fails the save. Counted are the checkpoints of all jobs that save to a file system: 14 bytes for each
    parameter that is trained, with Adam in mixed precision (arXiv:1910.02054, section 3.1), however it is sharded. A
    job without `keep` keeps ten, as many as TorchTitan does (`keep_latest_k`, pytorch/torchtitan b5bcd76c). It is an
    error where the spec says how many each job keeps, or where two of each do not fit.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          torchVersion: "2.12",
          model: {parameters: 13e9, sharding: full}}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, keep: 7},
          torchVersion: "2.12", model: {parameters: 13e9, sharding: full}}]

    ## Passes

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 1200Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, keep: 3},
          torchVersion: "2.12", model: {parameters: 13e9, sharding: full}}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 2400Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama},
          torchVersion: "2.12",
          model: {parameters: 13e9, sharding: full}}]
    """
    shared: dict[str, list[CheckpointSchedule]] = {}
    for schedule in plan.of(CheckpointSchedule):
        if schedule.needed is not None and schedule.file_system:
            shared.setdefault(schedule.file_system, []).append(schedule)
    for file_system, schedules in shared.items():
        yield from _judged(file_system, schedules)


def _judged(file_system: str, schedules: list[CheckpointSchedule]) -> Iterator[Finding]:
    sizes = [schedule.size or 0 for schedule in schedules]
    needed = sum(schedule.needed or 0 for schedule in schedules)
    capacity = schedules[0].capacity or 0
    if needed <= capacity:
        return
    certain = all(schedule.chosen for schedule in schedules) or 2 * sum(sizes) > capacity
    largest = max(schedules, key=lambda schedule: schedule.needed or 0)
    others = len(schedules) - 1
    whose = f"job `{largest.name}`"
    if others:
        whose += f" and {others} more"
    place = "keep" if largest.chosen else "path"
    spec_help = "take a larger file system"
    fewest = largest.keep - -(-(needed - capacity) // (largest.size or 1))
    if fewest >= 1:
        spec_help = (
            f"write `keep: {fewest}` for job `{largest.name}`, as the program does, or {spec_help}"
        )
    yield Finding(
        f"the checkpoints of {whose} take {_gib(needed)} of `{file_system}`, which has {_gib(capacity)}: those of job "
        f"`{largest.name}` are {largest.keep} of {_gib(largest.size or 0)}, and one that is written",
        largest.where(place),
        label="a full file system fails the save",
        help="keep fewer, or take a larger file system",
        spec_help=spec_help,
        severity=Severity.ERROR if certain else None,
    )


def _gib(count: int) -> str:
    return f"{count / 1024**3:,.0f} GiB"
