"""A job, and what it has to go on from after a failure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from compiler.catalog.torch import SHUTDOWN_SECONDS, SHUTDOWN_TIMEOUT
from compiler.core.jobs.plan import CheckpointSchedule
from compiler.core.jobs.saving import lasting
from compiler.core.jobs.stopping import AFTER_THE_SIGNAL, longest_hook, longest_silence
from compiler.dataclass import dataclass
from compiler.failures.parts import Part
from compiler.failures.setting import Setting
from compiler.model.kinds import has_peers
from compiler.model.lengths import Basis, Length, lengths
from compiler.model.restarts import restarts_of
from compiler.model.saves import has_place_to_save
from compiler.model.work import Work
from compiler.plan import Plan

_IN_PLACE = "PET_MAX_RESTARTS"


class From(StrEnum):
    """What a job goes on from."""

    RUNS_ON = "it runs on"
    CHECKPOINT = "from its last checkpoint"
    SAVED = "from what its program saved"
    START = "from step 0"
    NOTHING = "not at all"


class Repeated(NamedTuple):
    """The seconds of work that are done again: as a rule, and at most."""

    usual: float
    most: float


@dataclass(frozen=True, slots=True)
class Footing:
    """A job with the checkpoints that it goes on from.

    ``retries``: how often all of it is started again, ``None`` where that is not known; ``in_place``: how often
    torchrun starts its ranks again before that. ``hung``: the least and the most seconds that processes take to end
    that hang. ``spare``: nodes that its pool keeps free. ``saves``: what its program writes may outlive it.
    ``length``: how long it runs if nothing stops it.
    """

    work: Work
    name: str
    nodes: int
    retries: int | None
    in_place: int
    hung: tuple[int, int]
    spare: int
    schedule: CheckpointSchedule | None
    saves: bool
    length: Length

    @property
    def base(self) -> From:
        """What it goes on from once it is started again."""
        if self.schedule is not None:
            return From.CHECKPOINT
        return From.SAVED if self.saves else From.START

    @property
    def interval(self) -> int | None:
        """The seconds from one checkpoint to the next, or all of a job that has nowhere to save; ``None`` where that is
        not known."""
        if self.schedule is not None:
            return self.schedule.every
        if self.saves or self.length.basis is Basis.TIMEOUT:
            return None
        return self.length.seconds

    @property
    def repeated(self) -> Repeated | None:
        """The work since its last checkpoint, or since its start; ``None`` where that is not known."""
        if self.interval is None:
            return None
        return Repeated(self.interval / 2, self.interval)

    @property
    def gpus(self) -> int:
        """The GPUs of all of its nodes, any of which ends it; 0 where a node may have none."""
        return self.nodes * self.work.gpus_a_node

    @property
    def stopped(self) -> int:
        """The nodes that a failure of one of them stops."""
        return self.nodes if has_peers(self.work.kind) else 1

    @property
    def peers_end(self) -> tuple[int, int]:
        """The seconds until processes of other nodes are gone, which hang; none where it has no others."""
        return self.hung if self.stopped > 1 else (0, 0)

    @property
    def ends(self) -> tuple[int, int]:
        """The seconds until all processes are gone once one of them has failed: at once where no others hang."""
        return self.hung if self.stopped > 1 else (0, self.hung[1])

    def reading(self) -> Iterator[Part]:
        """Until the checkpoint is read; nothing of a job without any."""
        schedule = self.schedule
        if schedule is None:
            return
        if schedule.read is None or schedule.read_speed is None:
            why = "not known: `model` says the size of a checkpoint, and its storage how fast it is"
            yield Part("checkpoint is read", 0, None, why)
            return
        bound = schedule.read_bound.replace("`", "")
        why = f"{lasting(schedule.read)} at {schedule.read_speed:,.0f} MB/s, as fast as {bound}"
        yield Part("checkpoint is read", schedule.read, schedule.read, why)


def footings(setting: Setting) -> list[Footing]:
    """Every job of a cluster, in the order of its plan."""
    known = setting.reading.once(lengths)
    return [
        _footing(setting, work, known[work.namespace, work.name]) for work in setting.reading.works
    ]


def schedules_of(plan: Plan) -> Mapping[tuple[str, str], CheckpointSchedule]:
    """The checkpoints of jobs, by their namespace and name in the spec."""
    found = plan.of(CheckpointSchedule)
    return {(schedule.namespace, schedule.name): schedule for schedule in found}


def name_of(work: Work) -> str:
    """The name of a job in the spec."""
    return work.job.source_name or work.job.name


def _footing(setting: Setting, work: Work, length: Length) -> Footing:
    name = name_of(work)
    nodes = work.job.whole_nodes
    pool = setting.pool(work.job.pool)
    in_place = work.env.get(_IN_PLACE) or "0"
    return Footing(
        work=work,
        name=name,
        nodes=nodes,
        retries=restarts_of(work),
        in_place=int(in_place) if in_place.isdigit() else 0,
        hung=hung_seconds(work),
        spare=pool.spare_nodes if pool is not None else 0,
        schedule=length.schedule,
        saves=has_place_to_save(work),
        length=length,
    )


def hung_seconds(work: Work) -> tuple[int, int]:
    """The seconds until processes are gone that hang, as they do in a collective that others have left: no hook waits
    for them, torchrun does, and then the kubelet kills. Without pods torchrun alone ends them."""
    pod = work.pod
    if pod is None:
        waits = work.env.get(SHUTDOWN_TIMEOUT) or ""
        longest = int(waits) if waits.isdigit() else SHUTDOWN_SECONDS
        return min(SHUTDOWN_SECONDS, longest), longest
    if pod.grace_seconds is None:
        return 0, 0
    seconds = whole = pod.grace_seconds
    if any(container.pre_stop for container in pod.containers):
        hook = longest_hook(whole)
        seconds = min(longest_silence(hook) + AFTER_THE_SIGNAL, whole)
    return seconds, seconds


def saved_at_the_end(job: Footing, grace: int) -> Repeated | None:
    """The work that is repeated of a job that has so many seconds to save: none where its program does that."""
    schedule = job.schedule
    if schedule is None or job.repeated is None:
        return None
    if schedule.write is not None and schedule.write > grace:
        return job.repeated
    return Repeated(0, job.repeated.most)


def times(retries: int) -> str:
    """How often, in words."""
    return "once" if retries == 1 else f"{retries} times at most"
