"""A job, and what it has to go on from after a failure."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from trainyard.core.jobs.length import Basis, Length
from trainyard.core.jobs.plan import CheckpointSchedule, Gang
from trainyard.core.jobs.saving import lasting
from trainyard.core.pods.plan import Pod
from trainyard.extensions.forecast.failures.parts import Part
from trainyard.language.dataclass import dataclass


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

    ``kind``: of the object that runs it; ``has_peers``: its nodes talk to each other, so that one that fails stops all.
    ``pod``: where its program runs; ``None`` where it has no pods. ``accelerator``: the resource that each node asks
    for, "" for none. ``retries``: how often all of it is started again, ``None`` where that is not known; ``in_place``:
    how often torchrun starts its ranks again before that. ``hung``: the least and the most seconds that processes take
    to end that hang. ``spare``: nodes that its pool keeps free. ``saves``: what its program writes may outlive it.
    ``length``: how long it runs if nothing stops it.
    """

    gang: Gang
    kind: str
    has_peers: bool
    pod: Pod | None
    accelerator: str
    gpus_a_node: int
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
        return self.nodes * self.gpus_a_node

    @property
    def stopped(self) -> int:
        """The nodes that a failure of one of them stops."""
        return self.nodes if self.has_peers else 1

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
