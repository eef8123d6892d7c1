"""Timelines of small worlds: one pool of nodes with eight GPUs each, without a topology."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simulate.worlds import made
from trainyard.core.jobs.length import Basis, Length
from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.extensions.forecast.simulate.compiled import Cluster
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.reading import PoolNodes
from trainyard.extensions.forecast.simulate.state import World
from trainyard.extensions.forecast.timeline.course import Course, Timeline
from trainyard.extensions.forecast.timeline.outlook import timeline
from trainyard.extensions.forecast.timeline.readiness import PodsReady
from trainyard.extensions.forecast.timeline.windows import Window, Windows

HOUR = 3600


def flat(*queues: list[dict[str, Any]], nodes: int) -> World:
    """A world of queues over so many nodes, which have no topology."""
    world = made(*queues, racks=[nodes])
    flavors = {name: replace(each, topology=None) for name, each in world.flavors.items()}
    return replace(world, flavors=flavors)


def cluster_of(world: World, jobs: tuple[Job, ...]) -> Cluster:
    """A cluster whose nodes are all of the pool `gpu`."""
    pool = PoolNodes("gpu", "us-west-2b", world.nodes, bounded=True)
    titles = {job.key: job.name for job in jobs}
    return Cluster("lab", world, jobs, titles, (), (pool,), (), frozenset())


def hours(count: float, *, every: float | None = None) -> Length:
    """An expected length; ``every``: hours between two checkpoints."""
    seconds = int(count * HOUR)
    schedule = None if every is None else saved(int(every * HOUR))
    return Length(Basis.EXPECTED, seconds, seconds, schedule)


def saved(every: int) -> CheckpointSchedule:
    """Checkpoints of which only the interval is known."""
    return CheckpointSchedule(
        name="", namespace="team", pool="gpu", nodes=1, path="", folder="", storage="", file_system="",
        deployment="", capacity=None, size=None, keep=1, chosen=False, asynchronous=False, every=every,
        timeout=None, write_speed=None, write_bound="", read_speed=None, read_bound="", peak_speed=None,
        mtbf=None,
    )  # fmt: skip


def run(
    world: World,
    *jobs: tuple[Job, Length],
    opens: float = 0,
    closes: float | None = None,
    ready: PodsReady | None = None,
) -> Timeline:
    """The timeline of jobs with their lengths; the pool exists from and until so many hours."""
    windows = Windows({}, None)
    if opens or closes is not None:
        end = None if closes is None else int(closes * HOUR)
        windows = Windows({"gpu": Window("gpu", int(opens * HOUR), end)}, 0)
    lengths = {(job.namespace, job.name): length for job, length in jobs}
    return timeline(cluster_of(world, tuple(job for job, _ in jobs)), lengths, windows, ready)


def course(of: Timeline, name: str) -> Course:
    """The course of a job."""
    return next(each for each in of.courses if each.job == name)


def spans(of: Timeline) -> dict[str, list[tuple[float, float | None]]]:
    """From when to when each job runs, in hours."""
    return {
        each.job: [
            (one.start / HOUR, None if one.end is None else one.end / HOUR) for one in each.attempts
        ]
        for each in of.courses
    }
