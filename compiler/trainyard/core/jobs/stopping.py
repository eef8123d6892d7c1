"""How the pods of a job stop: how long they have to save, and by which signal the program learns of it.

A pod that must go gets its preStop hook, then SIGTERM, then after the grace period SIGKILL (core/v1 Pod,
terminationGracePeriodSeconds). Launchers may kill their ranks sooner.
"""

from __future__ import annotations

import math
import shlex

from trainyard.core.jobs.binding import mount_of
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.saving import lasting, write_seconds
from trainyard.core.jobs.spec import Mount
from trainyard.language.units import Duration
from trainyard.plan.context import Context

BLOCK_DRAIN = Duration.minutes(8)
"""From Karpenter's drain to the end of the pods of a Capacity Block.

Karpenter looks once a minute, from 40 minutes before the block's end, and EC2 takes the instances 30 minutes before it
(karpenter-provider-aws v1.14.1, capacityreservation/expiration and CapacityReservationFromEC2; EC2 user guide, Capacity
Blocks): of these ten minutes one may pass before Karpenter looks, and one is for the end of the instance itself.
"""

RELEASED = Duration(30)
"""What pods of a released runtime have (core/v1 Pod, terminationGracePeriodSeconds)."""
SIGNAL_FILE_ENV = "CHECKPOINT_SIGNAL_FILE"
AFTER_THE_SIGNAL = 45
"""Seconds after a preStop hook that saved: 30 in which torchrun waits for its ranks, and 15 for its own end."""
_PLAIN = Duration.minutes(1)
_UNKNOWN = Duration.minutes(5)
_STEP = 90
"""Seconds in which the step that runs ends, and the program after its checkpoint."""
_ROUND = 30
_ANSWER = 60
"""Seconds in which a program that is not stuck ends its step and begins to save."""


def grace(context: Context, job: Job) -> int:
    """Seconds from the signal to stop to the kill."""
    derived, reason, source = _grace(context, job)
    _check(context, job)
    return context.settle(
        job.target,
        "terminationGracePeriod",
        job.spec.termination_grace_period,
        derived,
        reason,
        source,
        at=job.at / "terminationGracePeriod",
    ).seconds


_LEAST = 15
"""Seconds below which no step ends and no checkpoint of any size is written."""


def _check(context: Context, job: Job) -> None:
    """Report a time to stop in which nothing can be saved, and a signal that other pods get too."""
    saves, given = job.spec.checkpoint, job.spec.termination_grace_period
    if saves is None:
        return
    if given is not None:
        needed = write_seconds(context, job) or _LEAST
        if given.seconds < needed:
            context.doubt(
                "RES243",
                f"job `{job.spec.name}` has {given} to save before it is killed, and a checkpoint takes at least "
                f"{lasting(needed)} to write",
                job.at / "terminationGracePeriod",
                "remove `terminationGracePeriod`: it is derived",
                source="core/v1 Pod, terminationGracePeriodSeconds",
            )
    if saves.signal_file is None:
        return
    mount = mount_of(job.spec, saves.signal_file)
    if isinstance(mount, Mount):
        context.doubt(
            "RES242",
            f"`{saves.signal_file}` lies in storage `{mount.storage}`: all pods of all runs see the file that one "
            "makes, and a run that begins again finds it there and saves at once",
            job.at / "checkpoint" / "signalFile",
            "write a path of the pod alone, like `/tmp/save-now`",
        )


def time_to_save(context: Context, job: Job) -> Duration:
    """The time from the signal to stop to the kill, as the spec says it or as it is derived."""
    derived, _, _ = _grace(context, job)
    return job.spec.termination_grace_period or derived


def _grace(context: Context, job: Job) -> tuple[Duration, str, str]:
    """The time that is derived, why, and the source of that.

    Whoever hangs saves nothing, and JobSet starts a gang again only when all of its pods are gone (jobset v0.12.0,
    deletes its Jobs in the foreground): all nodes wait for the last one, so that it is no longer than a save takes.
    """
    if job.spec.runtime is not None:
        why = "Kubernetes' own: Kueue drops it from what a TrainJob patches"
        return RELEASED, why, "kueue v0.19.2, trainer v2.2.1 in go.mod (RUN004)"
    if job.spec.checkpoint is None:
        return _PLAIN, "nothing is saved at the end", ""
    time, why = _save(context, job)
    if any(pool.block for pool in job.pools) and time > BLOCK_DRAIN:
        return (BLOCK_DRAIN, "time to save before EC2 takes the block's instances", _BLOCKS)
    return time, why, ""


def _save(context: Context, job: Job) -> tuple[Duration, str]:
    """How long a last checkpoint takes at most, and why."""
    seconds = write_seconds(context, job)
    if seconds is None:
        why = "a checkpoint of unknown size: `model` says how long one takes to write"
        return _UNKNOWN, why
    whole = 2 * seconds + _STEP
    why = (
        f"twice the {lasting(seconds)} that a checkpoint takes to write, and the step "
        "that runs: hung ranks save nothing, and hold up the whole gang's restart"
    )
    return Duration(math.ceil(whole / _ROUND) * _ROUND), why


_BLOCKS = "karpenter v1.14.1 terminator; EC2 user guide, Capacity Blocks"


def hook_seconds(context: Context, job: Job) -> int:
    """The most that the preStop hook waits; 0 without one. What is left of the time is for SIGTERM."""
    saves = job.spec.checkpoint
    if saves is None or saves.signal_file is None:
        return 0
    return longest_hook(time_to_save(context, job).seconds)


def longest_hook(whole: int) -> int:
    """The most that a hook waits of so many seconds."""
    return max(whole - AFTER_THE_SIGNAL, whole // 2)


def longest_silence(hook: int) -> int:
    """The seconds after which a hook ends where nobody saves."""
    return max(_ANSWER, hook // 5)


def pre_stop(context: Context, job: Job) -> tuple[str, ...]:
    """The hook that makes the signal file and waits until the program has removed it.

    It ends at once where nobody answers: where the file is still empty, and nothing in the checkpoint's folder is
    newer than it, when any step should be over.
    """
    saves = job.spec.checkpoint
    if saves is None or saves.signal_file is None:
        return ()
    most = hook_seconds(context, job)
    answer = longest_silence(most)
    context.derive(
        job.target,
        "preStop",
        f"makes {saves.signal_file}, waits until it is gone, for {Duration(most)} at most",
        "works with every launcher: SIGTERM comes when the hook has ended, and already after "
        f"{Duration(answer)} where nothing was written to the file or to the checkpoints: hung ranks save nothing",
        "core/v1 Lifecycle preStop",
        follows=job.at / "checkpoint" / "signalFile",
    )
    file = shlex.quote(saves.signal_file)
    folder = shlex.quote(saves.path)
    nobody = (
        f"test $n -eq {answer} && command -v find > /dev/null && ! test -s {file} "
        f'&& test -z "$(find {folder} -maxdepth 2 -newer {file} 2> /dev/null | head -n 1)"'
    )
    wait = (
        f"n=0; while test -e {file} && test $n -lt {most}; do n=$((n+1)); "
        f"if {nobody}; then break; fi; sleep 1; done"
    )
    return "/bin/sh", "-c", f"touch {file}; {wait}"
