"""Recovery after a failure, part by part: from a broken GPU to the first new step."""

from __future__ import annotations

import math
from collections.abc import Iterator

from compiler.catalog.torch import SHUTDOWN_SECONDS
from compiler.core.jobs.plan import CheckpointSchedule
from compiler.core.jobs.stopping import AFTER_THE_SIGNAL, longest_hook, longest_silence
from compiler.core.pools.pools import DIAGNOSTICS
from compiler.core.pools.waits import PROVISION, PULL, START
from compiler.dataclass import dataclass
from compiler.model.reading import Reading
from compiler.model.work import Work
from compiler.plan.units import Duration
from compiler.platforms.eks.health.plan import BurnIn
from compiler.report.blocks import Block, Explained, Heading, Text, paragraph, table
from compiler.report.subject import Subject

WATCHDOG = Duration.minutes(10)
"""How long NCCL's watchdog of PyTorch waits for a collective, unless the program says another `timeout` to
`init_process_group` (torch 2.12, torch/distributed/distributed_c10d.py: default_pg_nccl_timeout). No variable sets it:
`TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC`, 8 minutes, is how long the watchdog itself may be stuck (ProcessGroupNCCL.hpp)."""


@dataclass(frozen=True, slots=True)
class Way:
    """The parts of the way back of a job, in seconds. ``new_node`` is how long a new node takes to come."""

    name: str
    tries: int
    stop: int
    new_node: int
    read: float
    lost: float | None
    spare: int

    @property
    def least(self) -> float:
        """An error that the program notices at once, and nodes that are there."""
        return self.stop + START.seconds + self.read

    @property
    def most(self) -> float:
        """A collective that hangs, and a new node."""
        return WATCHDOG.seconds + self.least + self.new_node + PULL.seconds


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job, and how many sick nodes of each pool are replaced."""
    works = Reading(subject.plan, subject.catalog).works
    ways = [_way(subject, work) for work in works if _has_accelerators(work)]
    if ways:
        yield Heading("After a failure")
        yield paragraph(
            "A GPU fails, and all of the job starts again. The program notices an error at once, and a collective that "
            f"hangs by NCCL's watchdog: {WATCHDOG}, unless it calls `init_process_group(timeout=…)` with less. "
            "At least: an error, and a node that is free. At most: a hang, and a node that is repaired and boots "
            "first. Ranks of other nodes hang in both, and save nothing."
        )
        header = (
            "job",
            "notices, at most:",
            "tries in place:",
            "hung processes stop:",
            "new node:",
            "image:",
            "start:",
            "checkpoint is read:",
            "at least:",
            "at most:",
            "steps lost:",
        )
        yield table(header, map(_row, ways))
    yield from subject.platform.reported().repair(subject)


def _has_accelerators(work: Work) -> bool:
    return work.accelerator is not None and work.accelerator[1] > 0


def _way(subject: Subject, work: Work) -> Way:
    name = work.job.source_name or work.job.name
    schedule = _schedule(subject, work)
    read = 0.0
    lost = None
    if schedule is not None:
        read = schedule.read or 0
        if schedule.every is not None:
            lost = schedule.every / 2
    tries = work.env.get("PET_MAX_RESTARTS") or "0"
    pool = subject.pool(work.job.pool)
    spare = 0
    if pool is not None:
        spare = pool.spare_nodes
    reported = subject.platform.reported()
    return Way(
        name=name,
        tries=int(tries) if tries.isdigit() else 0,
        stop=_stop(work),
        new_node=reported.REPAIR.seconds + PROVISION.seconds + _test(subject, work.job.pool),
        read=read,
        lost=lost,
        spare=spare,
    )


def _stop(work: Work) -> int:
    """The seconds until processes are gone that hang, as they do in a collective that others have left: no hook waits
    for them, torchrun does, and then the kubelet kills. Without pods torchrun alone ends them."""
    pod = work.pod
    if pod is None:
        return SHUTDOWN_SECONDS
    if pod.grace_seconds is None:
        return 0
    whole = pod.grace_seconds
    seconds = whole
    if any(container.pre_stop for container in pod.containers):
        hook = longest_hook(whole)
        seconds = longest_silence(hook) + AFTER_THE_SIGNAL
    return min(seconds, whole)


def _schedule(subject: Subject, work: Work) -> CheckpointSchedule | None:
    name = work.job.source_name or work.job.name
    for schedule in subject.plan.of(CheckpointSchedule):
        if (schedule.namespace, schedule.name) == (work.job.namespace, name):
            return schedule
    return None


def _test(subject: Subject, pool: str) -> int:
    """The seconds that DCGM's diagnostics of a new node of a pool take."""
    for burn_in in subject.plan.of(BurnIn):
        if burn_in.name == f"burn-in-{pool}":
            return DIAGNOSTICS[burn_in.level].seconds
    return 0


def _row(way: Way) -> tuple[Text, ...]:
    lost = "?"
    if way.lost is not None:
        lost = f"{_time(way.lost)}, on average"
    new_node = _time(way.new_node)
    if way.spare:
        new_node += f", or none: {way.spare} spare"
    least = f"stop {_time(way.stop)} + start {START} + read {_time(way.read)}"
    most = f"notice {WATCHDOG} + {_time(way.least)} + node {_time(way.new_node)} + image {PULL}"
    return (
        way.name,
        str(WATCHDOG),
        str(way.tries),
        _time(way.stop),
        new_node,
        str(PULL),
        str(START),
        _time(way.read) if way.read else "?",
        Explained(_time(way.least), least),
        Explained(_time(way.most), most),
        lost,
    )


def _time(seconds: float) -> str:
    return str(Duration(math.ceil(seconds)))
