"""How the pods of a job stop: how long they have to save, and how the program learns of it.

A pod that must go gets its preStop hook, then SIGTERM, then after the grace period SIGKILL (core/v1 Pod,
terminationGracePeriodSeconds). Launchers may kill their ranks sooner.
"""

from __future__ import annotations

import shlex

from compiler.plan.units import Duration
from compiler.resolve.context import Context
from compiler.subjects.jobs.binding import Job

BLOCK_DRAIN = Duration.minutes(8)
"""From Karpenter's drain to the end of the pods of a Capacity Block.

Karpenter looks once a minute, from 40 minutes before the block's end, and EC2 takes the instances 30 minutes before it
(karpenter-provider-aws v1.14.1, capacityreservation/expiration and CapacityReservationFromEC2; EC2 user guide, Capacity
Blocks): of these ten minutes one may pass before Karpenter looks, and one is for the end of the instance itself.
"""

RELEASED = Duration(30)
"""What pods of a released runtime have (core/v1 Pod, terminationGracePeriodSeconds)."""
SIGNAL_FILE_ENV = "CHECKPOINT_SIGNAL_FILE"
_SAVES, _PLAIN = Duration.minutes(10), Duration.minutes(1)


def grace(context: Context, job: Job) -> int:
    """Seconds from the signal to stop to the kill."""
    derived, reason, source = _grace(job)
    return context.settle(
        job.target,
        "gracePeriod",
        job.spec.grace_period,
        derived,
        reason,
        source,
        at=job.at / "gracePeriod",
    ).seconds


def time_to_save(job: Job) -> Duration:
    """The time from the signal to stop to the kill, as the spec says it or as it is derived."""
    derived, _, _ = _grace(job)
    return job.spec.grace_period or derived


def _grace(job: Job) -> tuple[Duration, str, str]:
    """The time that is derived, why, and the source of that."""
    if job.spec.runtime is not None:
        why = "Kubernetes' own: Kueue drops it from what a TrainJob patches"
        return RELEASED, why, "kueue v0.19.2, trainer v2.2.1 in go.mod (RUN004)"
    if job.spec.checkpoint is None:
        return _PLAIN, "nothing is saved at the end", ""
    if any(pool.block for pool in job.pools):
        seconds = min(_SAVES, BLOCK_DRAIN)
        return seconds, "time to save before EC2 takes the block's instances", _BLOCKS
    return _SAVES, "time to save before the kill", ""


_BLOCKS = "karpenter v1.14.1 terminator; EC2 user guide, Capacity Blocks"


def pre_stop(
    context: Context,
    job: Job,
) -> tuple[str, ...]:
    """The hook that makes the signal file and waits until the program has removed it, or the grace period is over."""
    saves = job.spec.checkpoint
    if saves is None or saves.signal_file is None:
        return ()
    context.derive(
        job.target,
        "preStop",
        f"makes {saves.signal_file}, waits until it is gone",
        "works with every launcher: SIGTERM comes when the hook has ended",
        "core/v1 Lifecycle preStop",
        follows=job.at / "checkpoint" / "signalFile",
    )
    file = shlex.quote(saves.signal_file)
    return "/bin/sh", "-c", f"touch {file}; while test -e {file}; do sleep 1; done"
