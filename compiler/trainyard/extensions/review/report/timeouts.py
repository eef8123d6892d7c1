"""How long each part waits for another, and whether that is long enough, in one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from posixpath import basename

from trainyard.catalog.torch import SHUTDOWN_TIMEOUT
from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.core.jobs.stopping import BLOCK_DRAIN
from trainyard.core.pools.pools import DIAGNOSTICS
from trainyard.core.pools.waits import PROVISION, PULL, RECOVERY, REPAIR
from trainyard.eks.flux.plan import HelmRelease, Stage
from trainyard.eks.health.plan import BurnIn
from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.eks.kueue.plan import QueueManager
from trainyard.eks.nodes.plan import NodePool
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Strong, Text, table
from trainyard.extensions.forecast.failures.footings import name_of, schedules_of
from trainyard.extensions.forecast.subject import Subject
from trainyard.judge.model.work import Work
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import first_of
from trainyard.language.units import Duration

_RENDEZVOUS = "PET_RDZV_CONF"
_JOIN = "join_timeout"
_LOST = "the other nodes, as long as Kueue waits for a lost pod"


@dataclass(frozen=True, slots=True)
class Wait:
    """Who waits for what, and how many seconds that takes at least (``least``) or may take at most (``most``).

    ``said``: the field that says how long, and ``because``: what its bounds are made of. ``jobs`` are those that it is
    about.
    """

    who: str
    seconds: int
    what: str
    said: str
    least: float | None = None
    most: float | None = None
    because: str = ""
    jobs: tuple[str, ...] = ()

    @property
    def bound(self) -> str:
        """The bounds in words; empty where none is known."""
        bounds = []
        if self.least is not None:
            bounds.append(f"at least {_time(self.least)}")
        if self.most is not None:
            bounds.append(f"at most {_time(self.most)}")
        return ", ".join(bounds)

    @property
    def fits(self) -> bool:
        """Whether it lies within its bounds."""
        if self.least is not None and self.seconds < self.least:
            return False
        return self.most is None or self.seconds <= self.most


def section(subject: Subject) -> Iterator[Block]:
    """A line for each timeout that is bounded by how long something else takes."""
    rows = _together(waits(subject))
    if not rows:
        return
    yield Heading("Timeouts")
    header = ("who waits", "how long:", "for", "which takes", "fits")
    yield table(header, map(_row, rows))


def _together(all_waits: Iterable[Wait]) -> list[Wait]:
    """One wait for jobs that have the same."""
    jobs: dict[Wait, tuple[str, ...]] = {}
    for wait in all_waits:
        alike = replace(wait, jobs=())
        known = jobs.get(alike, ())
        jobs[alike] = (*known, *wait.jobs)
    return [replace(wait, jobs=names) for wait, names in jobs.items()]


def _row(wait: Wait) -> tuple[Text, ...]:
    who = wait.who
    if wait.jobs:
        who = f"{who} of {first_of(wait.jobs, _SHOWN)}"
    fits = "yes" if wait.fits else Strong("no")
    time = Explained(_time(wait.seconds), wait.said)
    bound = Explained(wait.bound, wait.because) if wait.because and wait.bound else wait.bound
    return who, time, wait.what, bound, fits


_SHOWN = 5


def waits(subject: Subject) -> Iterator[Wait]:
    """Every timeout of a cluster, from the first node of a job to the end of its pods."""
    works = subject.reading.works
    yield from _of_queues(subject)
    yield from _of_launchers(works)
    yield from _of_ends(subject, works)
    yield from _of_blocks(subject)
    yield from _of_delivery(subject)


def _of_queues(subject: Subject) -> Iterator[Wait]:
    manager = subject.plan.one(QueueManager)
    if manager is None:
        return
    levels = [burn_in.level for burn_in in subject.plan.of(BurnIn)]
    test = DIAGNOSTICS[max(levels, default=0)]
    if test.seconds:
        tested = f", its diagnostics {test}"
    else:
        tested = ""
    start = PROVISION.seconds + test.seconds + PULL.seconds
    new = f"{PROVISION} for launch, boot, driver and device plugin{tested}, {PULL} for 25 GB at 40 MB/s"
    if manager.pods_ready is not None:
        yield Wait(
            "Kueue",
            manager.pods_ready.seconds,
            f"all pods of an admitted job: a node from nothing {PROVISION}{tested}, its image {PULL}",
            "`waitForPodsReady.timeout` of Kueue's configuration",
            least=start,
            because=new,
        )
    if manager.recovery is not None and manager.recovery.seconds:
        yield Wait(
            "Kueue",
            manager.recovery.seconds,
            f"a pod that a running job lost: repair of its node {REPAIR}, then as above",
            "`waitForPodsReady.recoveryTimeout` of Kueue's configuration",
            least=RECOVERY.seconds + test.seconds,
            because=f"{REPAIR} until a node with a broken GPU is replaced, then {new}",
        )


def _of_launchers(works: tuple[Work, ...]) -> Iterator[Wait]:
    """How long the nodes of a job wait for each other."""
    for work in works:
        seconds = _joins(work.env.get(_RENDEZVOUS) or "")
        if seconds is not None:
            yield Wait(
                "torchrun",
                seconds,
                _LOST if work.has_pods else "the other nodes, while one that is lost is replaced",
                f"`{_JOIN}` of {_RENDEZVOUS}",
                least=RECOVERY.seconds,
                because=f"repair {REPAIR}, node {PROVISION}, image {PULL}",
                jobs=(name_of(work),),
            )


def _joins(configuration: str) -> int | None:
    for setting in configuration.split(","):
        name, _, value = setting.partition("=")
        if name == _JOIN and value.isdecimal():
            return int(value)
    return None


def _of_ends(subject: Subject, works: tuple[Work, ...]) -> Iterator[Wait]:
    """How long pods may take to stop, and how soon their launcher ends them."""
    schedules = schedules_of(subject.plan)
    for work in works:
        grace = _grace(work)
        if grace is not None:
            schedule = schedules.get((work.job.namespace, name_of(work)))
            yield from _ends(work, grace, schedule)


def _ends(work: Work, grace: int, schedule: CheckpointSchedule | None) -> Iterator[Wait]:
    jobs = (name_of(work),)
    yield _kill(work, grace, schedule, jobs)
    ranks = work.env.get(SHUTDOWN_TIMEOUT) or ""
    if ranks.isdecimal():
        what = "ranks to end, before the kubelet kills them"
        yield Wait("torchrun", int(ranks), what, SHUTDOWN_TIMEOUT, None, grace, _GRACE, jobs)
    if schedule is not None and schedule.timeout and schedule.every:
        first = schedule.every + (schedule.write or 0)
        what = "the first checkpoint, before the job is ended"
        why = "`checkpoint.every`, and the time to write one as far as it is known"
        who = "JobSet" if work.kind == TRAIN_JOB else work.kind
        yield Wait(who, schedule.timeout, what, "`timeout`", first, None, why, jobs)


_GRACE = "`terminationGracePeriodSeconds` of the pods"


def _kill(
    work: Work, grace: int, schedule: CheckpointSchedule | None, jobs: tuple[str, ...]
) -> Wait:
    """How long the kubelet waits until it kills a pod."""
    end, least = "the end of the program", None
    if schedule is not None:
        end, least = "a last checkpoint", schedule.write
    most = _drain(work)
    why = []
    if least is not None:
        why.append(f"a checkpoint takes {_time(least)} to write")
    if most is not None:
        why.append(f"`terminationGracePeriod` of the nodes is {_time(most)}")
    return Wait("the kubelet, for a pod", grace, end, _GRACE, least, most, "; ".join(why), jobs)


def _grace(work: Work) -> int | None:
    if work.pod is not None:
        return work.pod.grace_seconds
    return None


def _drain(work: Work) -> int | None:
    """The seconds in which nodes of the job's pools drain; ``None`` where none has an end."""
    ends = [pool.termination_grace for pool in work.pools if isinstance(pool, NodePool)]
    known = [end for end in ends if end is not None]
    seconds = [Duration.parse(end).seconds for end in known]
    return min(seconds, default=None)


def _of_blocks(subject: Subject) -> Iterator[Wait]:
    for pool in subject.plan.of(NodePool):
        if pool.termination_grace is not None:
            yield Wait(
                f"Karpenter, for the drain of {pool.name}",
                Duration.parse(pool.termination_grace).seconds,
                "pods that stop before EC2 takes the instances of a Capacity Block",
                "`terminationGracePeriod` of the NodePool",
                most=BLOCK_DRAIN.seconds,
                because="Karpenter drains 40 minutes before the end, EC2 ends instances 30 before it, and two are lost "
                "until Karpenter looks and the instance is gone (karpenter-provider-aws v1.14.1)",
            )


def _of_delivery(subject: Subject) -> Iterator[Wait]:
    """Flux gives a stage as long as each of its charts at least."""
    longest: dict[str, int] = {}
    for release in subject.plan.of(HelmRelease):
        seconds = release.timeout.seconds
        known = longest.get(release.stage, 0)
        longest[release.stage] = max(seconds, known)
    for stage in subject.plan.of(Stage):
        least = longest.get(basename(stage.path))
        if least is not None:
            what = "its charts to be installed"
            who = f"Flux, for stage {stage.name}"
            said = "`timeout` of the Kustomization"
            why = "the longest `timeout` of its HelmReleases"
            yield Wait(who, stage.timeout.seconds, what, said, least=least, because=why)


def _time(seconds: float) -> str:
    whole = -int(-seconds // 1)
    return str(Duration(whole))
