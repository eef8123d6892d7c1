"""Kueue from event to event: jobs come and go, objects change, and cycles run until nothing moves.

Time is simplified in two ways. A preempted job is gone when the next cycle starts; in a cluster its pods end first, and
the cycles in between find the same. And all that an event gives back is noticed at once, when no cycle moves anything:
Kueue gathers it for a second (pkg/cache/queue/inadmissible_workloads.go, requeueBatchPeriod).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from heapq import heappop, heappush
from itertools import groupby
from typing import Any

from trainyard.extensions.forecast.simulate.admission import PREEMPTED, Cycle, Outcome
from trainyard.extensions.forecast.simulate.objects import Job, LocalQueue, Queue
from trainyard.extensions.forecast.simulate.state import Obstacle, Progress, State, Work, World
from trainyard.extensions.forecast.simulate.topology import selects

STOPPED = "ClusterQueueStopped"
NOT_READY = "PodsReadyTimeout"
_ENDLESS = 20


class Simulator:
    """A cluster with Kueue. ``settled`` is false where jobs preempt each other without an end.

    ``moved`` are the keys of jobs that were admitted or lost their admission since somebody emptied it.
    """

    def __init__(self, world: World) -> None:
        self.works: dict[str, Work] = {}
        self.settled = True
        self.moved: set[str] = set()
        self._order = 0
        self._cycle = 0
        self._released = 0
        self._second = 0
        self._given_back: set[str] = set()
        # In no queue yet, or refused by it; evicted from a queue that was stopped.
        self._outside: dict[str, Work] = {}
        self._held: dict[str, Work] = {}
        # Evicted since their pods were not ready, until they come back.
        self._put_off: dict[str, Work] = {}
        # What the heads had tried in the cycles since something moved last.
        self._tried: set[str] = set()
        self._read_world(world)

    def _read_world(self, world: World) -> None:
        self.world = world
        self.state = State(world)
        self._repeats = Repeats()
        self._lines = Lines(self.state)
        self._local_queues = {(each.namespace, each.name): each for each in world.local_queues}

    def submit(self, job: Job, rank: int | None = None) -> None:
        """A job is created; nothing moves until :meth:`settle`. ``rank`` is what orders it among those of its second:
        without it, who came first."""
        self._order += 1
        work = Work(job, self._order if rank is None else rank)
        self.works[work.key] = work
        self._outside[work.key] = work

    def end(self, keys: Iterable[str]) -> None:
        """Jobs end, or are deleted, one after the other: the head of a strict queue may be let in in between."""
        for key in keys:
            work = self.works.pop(key, None)
            if work is None:
                continue
            self._outside.pop(key, None)
            self._held.pop(key, None)
            self._put_off.pop(key, None)
            if work.queue in self._lines.by_queue:
                self._lines.remove(work)
                # Also a job that only waited makes Kueue look again (workload_controller.go, Delete).
                self._given_back.add(work.queue)
            if work.admission is not None:
                self._give_back(work)
                for _ in range(self._most_cycles()):
                    if not self._run_cycle():
                        break

    def evict(self, key: str) -> None:
        """The pods of an admitted job were not ready in time: it loses its quota, and is not looked at until
        :meth:`come_back`."""
        work = self.works[key]
        self._give_back(work)
        work.admission = None
        work.queue = ""
        work.obstacles = [Obstacle("not-ready")]
        work.evictions[NOT_READY] = work.evictions.get(NOT_READY, 0) + 1
        self._put_off[key] = work

    def come_back(self, key: str, since: int) -> None:
        """An evicted job waits in its queue again, as old as its eviction (``requeuingStrategy.timestamp:
        Eviction``)."""
        work = self._put_off.pop(key)
        work.since = since
        self._outside[key] = work

    def change(self, world: World) -> None:
        """Objects changed: quotas are counted anew, jobs of stopped queues are evicted, all others looked at again."""
        self._read_world(world)
        for work in self.works.values():
            if work.admission is None or work.queue not in self.state.queues:
                self._leave_queue(work)
            elif self.state.queues[work.queue].stopped == "HoldAndDrain":
                self._leave_queue(work)
                work.admission = None
                self.moved.add(work.key)
                self._held[work.key] = work
                work.obstacles = [Obstacle("queue-inactive")]
                work.evictions[STOPPED] = work.evictions.get(STOPPED, 0) + 1
            else:
                self.state.add(work)

    def _leave_queue(self, work: Work) -> None:
        work.queue = ""
        work.progress = None
        waits = work.key in self._held or work.key in self._put_off
        if work.admission is None and not waits:
            self._outside[work.key] = work

    def settle(self) -> None:
        """Run cycles until nothing moves."""
        self._second += 1
        self._enqueue()
        self._repeats.begin()
        done, most = 0, self._most_cycles()
        while done < most:
            done += 1
            if self._run_cycle():
                continue
            freed = [work for work in self._held.values() if not self._is_stopped(work)]
            if not self._given_back and not freed:
                return
            period = self._repeated_cycles(done)
            if period:
                # Where all repeats, so many cycles end as few do.
                most = done + (most - done) % period
            self._second += 1
            for work in freed:
                # An evicted job of a stopped queue is let in again after the queue is, so those that waited come first.
                self._outside[work.key] = self._held.pop(work.key)
            self._enqueue()
            self._lines.wake(self._given_back)
            self._given_back.clear()
        self.settled = False

    def _most_cycles(self) -> int:
        return _ENDLESS * (len(self.works) + 10)

    def _repeated_cycles(self, done: int) -> int:
        """After how many cycles all repeats; 0 as long as that is not known."""
        queues = self._lines.trees(self._given_back)
        return self._repeats.period(
            self.state, self._lines, queues, done, self._cycle, self._released
        )

    def _is_stopped(self, work: Work) -> bool:
        local = self._local_queues.get((work.job.namespace, work.job.queue))
        queue = self.state.queues.get(local.queue) if local is not None else None
        return queue is None or queue.stopped != "None"

    def _enqueue(self) -> None:
        """Bring the jobs that are in no queue yet to theirs, as far as it takes jobs."""
        for work in list(self._outside.values()):
            local = self._local_queues.get((work.job.namespace, work.job.queue))
            refused = self._queue_obstacle(local)
            if local is None or refused is not None:
                work.obstacles = [refused or Obstacle("no-local-queue")]
                continue
            del self._outside[work.key]
            work.queue = local.queue
            self._lines.add(work)

    def _queue_obstacle(self, local: LocalQueue | None) -> Obstacle | None:
        if local is None:
            return Obstacle("no-local-queue")
        if local.stopped != "None":
            return Obstacle("local-queue-stopped")
        queue = self.state.queues.get(local.queue)
        if queue is None:
            return Obstacle("no-queue", detail=local.queue)
        flavors = [flavor for group in queue.groups for flavor in group.flavors]
        missing = [flavor for flavor in flavors if flavor not in self.world.flavors]
        if queue.stopped != "None" or missing:
            return Obstacle("queue-inactive", detail=local.queue)
        return None

    def _run_cycle(self) -> bool:
        """One cycle; whether anything moved.

        Nothing has moved either where the heads only went through their flavors once more.
        """
        self._cycle += 1
        heads = self._lines.heads()
        if not heads:
            return False
        before = _flavors_tried(heads)
        refused = [work for work in heads if self._is_wrong_namespace(work)]
        for work in refused:
            work.obstacles = [Obstacle("namespace")]
            self._lines.put_back(work, Outcome.WRONG_NAMESPACE)
        entering = [work for work in heads if work not in refused]
        for work in entering:
            self._forget_old(work)
        cycle = Cycle(self.state)
        cycle.run(entering)
        if self._apply_cycle(cycle) or refused:
            self._tried.clear()
            return True
        self._tried.add(repr(before))
        after = repr(_flavors_tried(heads))
        moved = after not in self._tried
        self._tried.add(after)
        return moved

    def _is_wrong_namespace(self, work: Work) -> bool:
        labels = self.world.namespaces.get(work.job.namespace, {})
        return not selects(labels, self.state.queues[work.queue].selector)

    def _forget_old(self, work: Work) -> None:
        """Where the job was in its flavors counts in the next cycle, and as long as nothing was given back (kueue
        v0.19.2, scheduler.go lastAssignmentOutdated)."""
        progress = work.progress
        if progress is None or self._cycle - progress.cycle <= 1:
            return
        if self._released > progress.released:
            work.progress = None

    def _apply_cycle(self, cycle: Cycle) -> bool:
        """Do what a cycle decided; whether that is more than to look at the same heads once more."""
        moved = bool(cycle.admitted or cycle.preempted)
        for entry, outcome in cycle.back:
            work = entry.work
            work.progress = None
            if outcome is not Outcome.PREEMPTING:
                work.progress = Progress(entry.assignment.tried(), self._cycle, self._released)
            moved |= not self._lines.put_back(work, outcome)
        for work, by, reason in cycle.preempted.values():
            self._give_back(work)
            self._repeats.preempted(work.key)
            work.admission = None
            work.preempted_by.append(by.key)
            work.evictions[PREEMPTED] = work.evictions.get(PREEMPTED, 0) + 1
            work.obstacles = [Obstacle("preempted", detail=reason)]
            work.progress = None
            self._lines.add(work)
        for entry in cycle.admitted:
            work = entry.work
            work.admission = entry.assignment
            work.reserved = self._second
            work.since = work.job.created
            work.obstacles = None
            work.progress = None
            self.moved.add(work.key)
            self._lines.remove(work)
            self.state.add(work)
        return moved

    def _give_back(self, work: Work) -> None:
        self.state.remove(work)
        self.moved.add(work.key)
        self._released += 1
        self._given_back.add(work.queue)


def _flavors_tried(heads: Iterable[Work]) -> list[tuple[str, object]]:
    """The flavors that each head has tried."""
    return [(work.key, work.progress and work.progress.tried) for work in heads]


def run(world: World, jobs: Iterable[Job]) -> Simulator:
    """Submit jobs at once, and let all settle."""
    simulator = Simulator(world)
    for job in jobs:
        simulator.submit(job)
    simulator.settle()
    return simulator


# The queues of a cluster as the scheduler sees them: the head of each, and which are woken together.
#
# Source: Kueue 0.19.2, pkg/cache/queue/manager.go, cluster_queue.go and inadmissible_workloads.go.


class Lines:
    """The jobs that wait, by queue. Only queues with jobs to look at are gone through."""

    def __init__(self, state: State) -> None:
        self.by_queue = {name: Pending(queue) for name, queue in state.queues.items()}
        self._order = {name: index for index, name in enumerate(self.by_queue)}
        self._awake: set[str] = set()
        self._tree_of = state.tree_of
        self._trees: dict[int, list[str]] = {}
        for name, tree in self._tree_of.items():
            self._trees.setdefault(tree, []).append(name)

    def add(self, work: Work) -> None:
        """Enter a job that is new, or was evicted, into its queue."""
        self.by_queue[work.queue].add(work)
        self._awake.add(work.queue)

    def heads(self) -> list[Work]:
        """The job of each queue to look at next, taken out of its queue."""
        found = []
        for name in sorted(self._awake, key=self._order.__getitem__):
            work = self.by_queue[name].pop()
            if work is None:
                self._awake.discard(name)
            else:
                found.append(work)
        return found

    def put_back(self, work: Work, outcome: Outcome) -> bool:
        """Enter a job that was looked at and is not admitted; whether it is looked at again before something is given
        back, as nothing but itself is."""
        pending = self.by_queue[work.queue]
        first = pending.first
        pending.put_back(work, outcome)
        self._awake.add(work.queue)
        return work.key in pending.waiting and pending.first == first

    def remove(self, work: Work) -> None:
        """Forget a job that is gone, or admitted."""
        self.by_queue[work.queue].remove(work)

    def trees(self, names: Iterable[str]) -> list[str]:
        """All queues of the trees that some queues are in."""
        trees = dict.fromkeys(self._tree_of[name] for name in sorted(names))
        return [name for tree in trees for name in self._trees[tree]]

    def wake(self, names: Iterable[str]) -> None:
        """Something was given back: all jobs of the trees of these queues are looked at again."""
        for name in self.trees(names):
            self.by_queue[name].wake()
            self._awake.add(name)

    def waiting(self, names: Iterable[str]) -> Iterator[Work]:
        """All jobs that wait in some queues."""
        for name in names:
            yield from self.by_queue[name].all()


class Pending:
    """The jobs that wait in one queue.

    ``waiting`` are to be looked at; ``parked`` did not fit, and wait until something is given back. In a queue that is
    not strict, jobs of the same shape as one that did not fit are parked unseen, and a job that preempts, ``first``,
    comes before all others.
    """

    def __init__(self, queue: Queue) -> None:
        self.name = queue.name
        self._strict = queue.strict
        self.waiting: dict[str, Work] = {}
        self.parked: dict[str, Work] = {}
        self.first: str | None = None
        self._shapes: set[Any] = set()
        # With entries of jobs that have left, which are passed over.
        self._ranked: list[tuple[tuple[int, int, int], str]] = []

    def add(self, work: Work) -> None:
        """Enter a job that is new, or was evicted."""
        self.parked.pop(work.key, None)
        if not self._strict and work.shape in self._shapes:
            self.parked[work.key] = work
            return
        self._enter_waiting(work)

    def _enter_waiting(self, work: Work) -> None:
        self.waiting[work.key] = work
        heappush(self._ranked, (work.rank, work.key))

    def remove(self, work: Work) -> None:
        """Forget a job that is gone, or admitted."""
        self.waiting.pop(work.key, None)
        self.parked.pop(work.key, None)
        if self.first == work.key:
            self.first = None

    def pop(self) -> Work | None:
        """The job to look at next."""
        if self.first in self.waiting:
            return self.waiting.pop(self.first)
        while self._ranked:
            rank, key = heappop(self._ranked)
            work = self.waiting.get(key)
            if work is not None and work.rank == rank:
                return self.waiting.pop(key)
        return None

    def put_back(self, work: Work, outcome: Outcome) -> None:
        """Enter a job that was looked at and is not admitted."""
        if outcome is Outcome.PREEMPTING and not self._strict:
            self.first = work.key
        if self._is_seen_again(work, outcome):
            self._enter_waiting(work)
            return
        self.parked[work.key] = work
        if not self._strict and outcome in (Outcome.NO_FIT, Outcome.NO_CANDIDATES):
            self._shapes.add(work.shape)
            for other in [each for each in self.waiting.values() if each.shape == work.shape]:
                del self.waiting[other.key]
                self.parked[other.key] = other

    def _is_seen_again(self, work: Work, outcome: Outcome) -> bool:
        if work.progress is not None and work.progress.is_pending():
            return True
        if self._strict:
            return outcome is not Outcome.WRONG_NAMESPACE
        return outcome in (Outcome.PREEMPTING, Outcome.TAKEN)

    def wake(self) -> None:
        """Something was given back: all are looked at again."""
        self._shapes.clear()
        for work in self.parked.values():
            self._enter_waiting(work)
        self.parked.clear()

    def all(self) -> Iterator[Work]:
        """All jobs that wait."""
        yield from self.waiting.values()
        yield from self.parked.values()


# Whether jobs preempt each other without an end.
#
# That is so in Kueue too: what a job has preempted others for may be taken by the head of another queue, since the
# feature gate `PrioritizePreemptorWorkloads` is off in 0.19.2 (pkg/features/kube_features.go). All that a cycle decides
# follows from what is admitted and what waits, so where that was the same before, everything from then on repeats.


class Repeats:
    """The states that were there. Nothing is compared before some job is preempted for the second time."""

    def __init__(self) -> None:
        self._periods: dict[Hashable, int] = {}
        self.begin()

    def begin(self) -> None:
        """Something happened, after which other states may follow; but where all repeated before, it does again."""
        self._preempted: set[str] = set()
        self._again = bool(self._periods)
        self._seen: dict[Hashable, int] = {}

    def preempted(self, key: str) -> None:
        """Remember that a job was preempted."""
        self._again = self._again or key in self._preempted
        self._preempted.add(key)

    def period(
        self, state: State, lines: Lines, queues: list[str], done: int, cycle: int, released: int
    ) -> int:
        """After how many steps the same happens again; 0 where that is not known. ``queues``: all that may change from
        now on; ``done``: the steps up to now."""
        if not self._again:
            return 0
        admitted = [work for name in queues for work in state.works[name].values()]
        waiting = [
            (work.key, _progress_that_counts(work.progress, cycle, released))
            for work in lines.waiting(queues)
        ]
        firsts = [lines.by_queue[name].first for name in queues]
        picture = (
            tuple(queues),
            _rounds_of_admission(admitted),
            tuple(sorted(waiting)),
            tuple(firsts),
        )
        if picture not in self._periods and picture in self._seen:
            self._periods[picture] = done - self._seen[picture]
        self._seen[picture] = done
        return self._periods.get(picture, 0)


def _rounds_of_admission(admitted: list[Work]) -> Hashable:
    """What is admitted, with its places, in the order in which it got its quota."""
    admitted.sort(key=lambda work: (work.reserved, work.key))
    rounds = groupby(admitted, key=lambda work: work.reserved)
    return tuple(tuple(_what_it_has(work) for work in together) for _, together in rounds)


def _what_it_has(work: Work) -> Hashable:
    usage = tuple(work.usage().items())
    places = tuple(
        (flavor, pods.name, tuple(placed.items())) for flavor, pods, placed in work.places()
    )
    return work.key, usage, places


def _progress_that_counts(progress: Progress | None, cycle: int, released: int) -> str:
    """Where a job was in its flavors, as far as it counts in the next cycle."""
    if progress is None:
        return ""
    return f"{progress.tried} {cycle - progress.cycle > 0} {released > progress.released}"
