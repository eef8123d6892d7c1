"""The timeline of a compiled cluster, as rules, reports and forecasts ask for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import ceil

from trainyard.core.jobs.length import Basis, Length
from trainyard.core.pools.waits import START
from trainyard.extensions.forecast.simulate.compiled import Cluster, cluster
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.reasons import blockers, fits_alone
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import Work
from trainyard.extensions.forecast.simulate.witness import Places
from trainyard.extensions.forecast.timeline.course import (
    Attempt,
    Course,
    Ending,
    PoolUse,
    Share,
    Timeline,
)
from trainyard.extensions.forecast.timeline.readiness import PodsReady, Waits, pods_ready
from trainyard.extensions.forecast.timeline.windows import Windows, Worlds, windows
from trainyard.judge.model.lengths import lengths
from trainyard.judge.model.reading import Reading
from trainyard.language.units import Duration

# From event to event: a job ends, a pool opens or closes; then Kueue decides who runs next.
#
# Two things are simplified. Nodes are there as soon as a job is admitted: how long they take to boot is not added. And
# a job that is stopped and goes on needs its start and the reading of its checkpoint, but no new node.

MOST_EXPLAINED = 40
"""Of so many jobs that never run it is looked for whom they wait for: each search simulates many admissions."""
_UNKNOWN = Length(Basis.UNKNOWN)
_NEVER = "it never fits"


def timeline(
    cluster: Cluster,
    lengths: Mapping[tuple[str, str], Length],
    windows: Windows,
    ready: PodsReady | None = None,
) -> Timeline:
    """The timeline of a cluster whose jobs are all submitted at its beginning. Without ``ready`` a job keeps its quota
    until there are nodes for it."""
    return _Engine(cluster, lengths, windows, ready).run()


class _Running:
    """A job that runs: since when, until when, on which nodes. ``overhead``: the seconds before its first step;
    ``number`` orders all that ever started."""

    def __init__(
        self, number: int, start: int, end: int | None, overhead: int, after: tuple[str, ...]
    ) -> None:
        self.number = number
        self.start = start
        self.end = end
        self.overhead = overhead
        self.after = after
        self.hosts: list[str] = []
        self.shares: tuple[Share, ...] = ()

    def worked(self, now: int) -> int:
        """The seconds of work since its start."""
        return max(now - self.start - self.overhead, 0)


class _Engine:
    def __init__(
        self,
        cluster: Cluster,
        lengths: Mapping[tuple[str, str], Length],
        windows: Windows,
        ready: PodsReady | None,
    ) -> None:
        self._ready = ready
        self._waits = Waits(ready)
        self._cluster = cluster
        self._windows = windows
        self._worlds = Worlds(cluster, windows)
        self._closed = self._worlds.closed(0)
        world = self._worlds.at(self._closed)
        self._simulator = Simulator(world)
        self._places = Places(world)
        self._jobs = {job.key: job for job in cluster.all_jobs}
        self._lengths = {
            key: lengths.get((job.namespace, job.name), _UNKNOWN) for key, job in self._jobs.items()
        }
        self._pool_of = {node.name: pool.title for pool in cluster.pools for node in pool.nodes}
        self._now = 0
        self._running: dict[str, _Running] = {}
        # When each running job ends, with entries of jobs that have stopped before.
        self._ends: list[tuple[int, int, str]] = []
        self._started = 0
        self._admissions: dict[str, object] = {}
        # Admitted, and without nodes yet.
        self._without_nodes: set[str] = set()
        self._kept: Counter[str] = Counter()
        self._attempts: dict[str, list[Attempt]] = {key: [] for key in self._jobs}
        self._in_use: Counter[str] = Counter()
        self._used: Counter[str] = Counter()
        self._steps: dict[str, list[tuple[int, int]]] = {
            pool.title: [(0, 0)] for pool in cluster.pools
        }

    def run(self) -> Timeline:
        """All events, until none is left."""
        for job in self._cluster.all_jobs:
            self._simulator.submit(job)
        self._settle(())
        moments = self._windows.moments()
        while True:
            upcoming = [*self._next_end(), *moments[:1]]
            waits = self._waits.next()
            if waits is not None and (upcoming or not self._waits.is_in_vain):
                upcoming.append(waits)
            if not upcoming:
                break
            self._now = min(upcoming)
            if moments and moments[0] == self._now:
                moments.pop(0)
            causes = self._end_jobs()
            causes += self._open_and_close()
            self._end_waits()
            self._settle(causes)
        return self._result()

    # -- events

    def _next_end(self) -> Iterator[int]:
        """When the next job has done its work, if any has an end."""
        while self._ends:
            end, number, key = self._ends[0]
            running = self._running.get(key)
            if running is not None and running.number == number:
                yield end
                return
            heappop(self._ends)

    def _end_jobs(self) -> list[str]:
        """Jobs that have done their work are gone, the one that started first at first; their titles."""
        done = []
        while self._now in self._next_end():
            _, _, key = heappop(self._ends)
            self._stop(key, Ending.DONE)
            done.append(key)
        self._simulator.end(done)
        for key in done:
            self._forget(key)
        return [self._title(key) for key in done]

    def _forget(self, key: str) -> None:
        self._admissions.pop(key, None)
        self._without_nodes.discard(key)
        self._waits.end(key)

    def _end_waits(self) -> None:
        """Jobs have waited too long for nodes and are evicted, and others come back after that."""
        for key in self._waits.due(self._now):
            if key not in self._without_nodes:
                self._simulator.come_back(key, self._waits.evicted[key][-1])
                continue
            self._forget(key)
            if self._waits.evict(key, self._now):
                self._simulator.evict(key)
            else:
                self._simulator.end([key])

    def _open_and_close(self) -> list[str]:
        """Pools open, and others close with what runs on them; the pools that opened."""
        closed = self._worlds.closed(self._now)
        if closed == self._closed:
            return []
        gone = closed - self._closed
        opened = sorted(self._closed - closed)
        cut = [
            (key, share.pool)
            for key, each in self._running.items()
            for share in each.shares
            if share.pool in gone
        ]
        for key, pool in dict(cut).items():
            self._stop(key, Ending.CLOSED, pool)
        waiting = [key for key in self._admissions if key in self._without_nodes]
        again = list(dict.fromkeys([*(key for key, _ in cut), *waiting]))
        self._closed = closed
        world = self._worlds.at(closed)
        self._simulator.change(world)
        self._simulator.end(again)
        for key in again:
            self._forget(key)
            self._simulator.submit(self._jobs[key])
        self._places = self._places.moved(world)
        return opened

    def _settle(self, causes: Sequence[str]) -> None:
        """Kueue decides; who lost its quota stops, and who got some runs where nodes have room."""
        self._simulator.settle()
        works = self._simulator.works
        moved = self._simulator.moved
        for key in [key for key in self._admissions if key in moved]:
            if works[key].admission is self._admissions[key]:
                continue
            self._forget(key)
            if key in self._running:
                by = works[key].preempted_by
                self._stop(key, Ending.PREEMPTED, self._title(by[-1]) if by else "")
        for key in [key for key in works if key in moved]:
            admission = works[key].admission
            if admission is not None and key not in self._admissions:
                self._admissions[key] = admission
                self._without_nodes.add(key)
                self._waits.begin(key, self._now)
        moved.clear()
        waiting = [works[key] for key in self._without_nodes]
        waiting.sort(key=lambda work: (work.reserved, -work.job.priority, work.order))
        for work in waiting:
            if self._place(work):
                self._without_nodes.discard(work.key)
                self._waits.end(work.key)
                self._start(work, tuple(causes))
        self._record()

    # -- one job

    def _place(self, work: Work) -> bool:
        """Nodes for an admitted job; whether there are enough."""
        self._places.take(work)
        if self._places.find(work):
            self._places.free(work.key)
            return False
        return True

    def _start(self, work: Work, after: tuple[str, ...]) -> None:
        length = self._lengths[work.key]
        overhead = 0
        if self._attempts[work.key]:
            overhead = START.seconds + ceil(length.read)
        end = None
        if length.seconds is not None:
            end = self._now + overhead + max(length.seconds - self._kept[work.key], 0)
        self._started += 1
        running = _Running(self._started, self._now, end, overhead, after)
        if end is not None:
            heappush(self._ends, (end, self._started, work.key))
        running.hosts = [
            id[-1] for place in self._places.places_of(work.key) for id in place.placed if id
        ]
        running.shares = self._shares(running.hosts)
        self._running[work.key] = running
        self._waits.started()
        self._use(running.hosts, 1)

    def _stop(self, key: str, ending: Ending, by: str = "") -> None:
        running = self._running.pop(key)
        self._places.free(key)
        self._use(running.hosts, -1)
        lost, saved = 0, None
        if ending is not Ending.DONE:
            worked = running.worked(self._now)
            lost = _lost(self._lengths[key], worked, ending)
            kept = worked - lost
            self._kept[key] += kept
            if kept and ending is Ending.CLOSED:
                saved = running.start + running.overhead + kept
        self._attempts[key].append(
            Attempt(
                running.start, self._now, ending, running.shares, by, lost, saved, running.after
            )
        )

    # -- nodes in use

    def _shares(self, hosts: Iterable[str]) -> tuple[Share, ...]:
        counted = Counter(self._pool_of[host] for host in set(hosts) if host in self._pool_of)
        return tuple(Share(pool, counted[pool]) for pool in sorted(counted))

    def _use(self, hosts: Iterable[str], sign: int) -> None:
        """Count the pods of each node, and the nodes of each pool that have any."""
        for host in hosts:
            pool = self._pool_of.get(host)
            if pool is None:
                continue
            before = self._in_use[host]
            self._in_use[host] = before + sign
            if before == 0:
                self._used[pool] += 1
            elif before + sign == 0:
                self._used[pool] -= 1

    def _record(self) -> None:
        for pool, steps in self._steps.items():
            moment, used = steps[-1]
            if used == self._used[pool]:
                continue
            if moment == self._now:
                steps[-1] = (self._now, self._used[pool])
            else:
                steps.append((self._now, self._used[pool]))

    # -- the result

    def _result(self) -> Timeline:
        for key in list(self._running):
            running = self._running[key]
            self._attempts[key].append(
                Attempt(running.start, None, Ending.OPEN, running.shares, after=running.after)
            )
        ends = [
            each.end
            for attempts in self._attempts.values()
            for each in attempts
            if each.end is not None
        ]
        return Timeline(
            self._cluster.name,
            self._windows.origin,
            tuple(self._courses()),
            tuple(self._pools()),
            max(ends, default=0),
            self._cluster.left_out,
            (*self._cluster.notes, *self._windows.notes, *self._given_up_before()),
            self._simulator.settled,
        )

    def _courses(self) -> Iterator[Course]:
        unfinished = 0
        for job in self._cluster.jobs:
            behind: tuple[str, ...] = ()
            reason = ""
            never_fits = False
            work = self._simulator.works.get(job.key)
            if job.key in self._waits.deactivated:
                reason = "its quota was there, and not enough nodes were"
            elif work is not None and job.key not in self._running:
                unfinished += 1
                if unfinished <= MOST_EXPLAINED:
                    behind, reason = self._why(job, work)
                    never_fits = reason == _NEVER
            yield Course(
                self._title(job.key),
                job.key,
                job.queue,
                self._lengths[job.key],
                tuple(self._attempts[job.key]),
                behind,
                reason,
                never_fits,
                tuple(self._waits.evicted.get(job.key, ())),
                self._waits.deactivated.get(job.key),
            )

    def _why(self, job: Job, work: Work) -> tuple[tuple[str, ...], str]:
        """Whom a job waits for once nothing moves any more, or what else keeps it."""
        if work.admission is not None:
            return (), "its quota is there, and not enough nodes are"
        if not fits_alone(self._cluster.world, job):
            return (), _NEVER
        if work.queue:
            found = [self._title(each.key) for each in blockers(self._simulator.state, work)]
            if found:
                return tuple(sorted(found)), ""
        if self._closed and not fits_alone(self._simulator.world, job):
            return (), "its Capacity Block has ended"
        return (), "other jobs of its queue come first"

    def _given_up_before(self) -> Iterator[str]:
        """Of jobs that wait for a pool to open, whether Kueue gives them up before."""
        patience = self._ready.patience() if self._ready is not None else None
        if patience is None:
            return
        for window in self._windows.of.values():
            if window.opens > patience and self._worlds.is_offered_without_nodes(window.pool):
                yield (
                    f"in a cluster the quota of `{window.pool}` is there before its block begins: Kueue deactivates a"
                    f" job that was admitted to it more than {Duration(patience)} before, since its pods do not become"
                    " ready (`kueue.waitForPodsReady`)"
                )

    def _pools(self) -> Iterator[PoolUse]:
        by_title: dict[str, int] = {}
        for pool in self._cluster.pools:
            by_title[pool.title] = by_title.get(pool.title, 0) + len(pool.nodes)
        for title, nodes in by_title.items():
            window = self._windows.of.get(title)
            opens = 0 if window is None else window.opens
            closes = None if window is None else window.closes
            yield PoolUse(title, nodes, tuple(self._steps[title]), opens, closes)

    def _title(self, key: str) -> str:
        return self._cluster.titles.get(key, key)


def _lost(length: Length, worked: int, ending: Ending) -> int:
    """The seconds of work that are repeated: what was done since the last checkpoint.

    A block ends at a known moment; a preemption comes at any, so half an interval is lost on average. Without an
    interval nothing is known to be saved.
    """
    every = length.every
    if not every or worked < every:
        return worked
    if ending is Ending.CLOSED:
        return worked % every
    return every // 2


MOST_JOBS = 100
"""Of more jobs nothing is said: many that wait for each other take longer than the rest of a check."""


def timeline_of(compiled: Cluster, reading: Reading, origin: int | None = None) -> Timeline:
    """The timeline of a cluster; ``origin``: the second since 1970 at which it begins, else with the first block."""
    plan = reading.plan
    return timeline(compiled, reading.once(lengths), windows(plan, origin), pods_ready(plan))


def outlook(reading: Reading) -> Timeline | None:
    """The timeline from the start of the first block on; ``None`` where there are too many jobs."""
    if len(reading.works) > MOST_JOBS:
        return None
    return timeline_of(cluster("", reading), reading)


def courses(reading: Reading) -> dict[str, Course]:
    """The courses of all jobs, by namespace and name; none of them where there is no timeline."""
    found = reading.once(outlook)
    if found is None:
        return {}
    return {course.key: course for course in found.courses}


def known_pools(reading: Reading) -> frozenset[str]:
    """The pools in which no job runs whose length is not known."""
    found = reading.once(outlook)
    if found is None:
        return frozenset()
    unknown = {
        share.pool
        for course in found.courses
        if course.length.seconds is None
        for attempt in course.attempts
        for share in attempt.shares
    }
    return frozenset(use.pool for use in found.pools if use.pool not in unknown)
