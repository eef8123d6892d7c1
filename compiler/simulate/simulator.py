"""Kueue from event to event: jobs come and go, objects change, and cycles run until nothing moves.

Time is simplified in two ways. A preempted job is gone when the next cycle starts; in a cluster its pods end first, and
the cycles in between find the same. And all that an event gives back is noticed at once, when no cycle moves anything:
Kueue gathers it for a second (pkg/cache/queue/inadmissible_workloads.go, requeueBatchPeriod).
"""

from __future__ import annotations

from collections.abc import Iterable

from compiler.simulate.assignment import Obstacle
from compiler.simulate.cycle import PREEMPTED, Cycle
from compiler.simulate.matching import selects
from compiler.simulate.objects import Job, LocalQueue
from compiler.simulate.pending import Outcome, Pending
from compiler.simulate.state import Progress, State, Work, World

STOPPED = "ClusterQueueStopped"
_ENDLESS = 20


class Simulator:
    """A cluster with Kueue. ``settled`` is false where jobs preempt each other without an end."""

    def __init__(self, world: World) -> None:
        self.works: dict[str, Work] = {}
        self.settled = True
        self._order = 0
        self._cycle = 0
        self._released = 0
        self._second = 0
        self._given_back: set[str] = set()
        self.world = world
        self.state = State(world)
        self._pending = {queue.name: Pending(queue) for queue in world.queues}

    def submit(self, job: Job) -> None:
        """A job is created; nothing moves until :meth:`settle`."""
        self._order += 1
        self.works[job.key] = Work(job, self._order)

    def end(self, keys: Iterable[str]) -> None:
        """Jobs end, or are deleted, one after the other: the head of a strict queue may be let in in between."""
        for key in keys:
            work = self.works.pop(key, None)
            if work is None:
                continue
            if work.queue in self._pending:
                self._pending[work.queue].remove(work)
                # Also a job that only waited makes Kueue look again (workload_controller.go, Delete).
                self._given_back.add(work.queue)
            if work.admission is not None:
                self._release(work)
                while self._run():
                    pass

    def change(self, world: World) -> None:
        """Objects changed: quotas are counted anew, jobs of stopped queues are evicted, all others looked at again."""
        self.world = world
        self.state = State(world)
        self._pending = {queue.name: Pending(queue) for queue in world.queues}
        for work in self.works.values():
            admitted = work.admission is not None and work.queue in self.state.queues
            if not admitted:
                work.queue = ""
                work.progress = None
                continue
            self.state.add(work)
            if self.state.queues[work.queue].stopped == "HoldAndDrain":
                self.state.remove(work)
                work.admission = None
                work.held = True
                work.queue = ""
                work.obstacles = [Obstacle("queue-inactive")]
                work.evictions[STOPPED] = work.evictions.get(STOPPED, 0) + 1

    def settle(self) -> None:
        """Run cycles until nothing moves."""
        self._second += 1
        self._enqueue()
        most = _ENDLESS * (len(self.works) + 10)
        for _ in range(most):
            if self._run():
                continue
            held = [
                work for work in self.works.values() if work.held and not self._is_stopped(work)
            ]
            if not self._given_back and not held:
                return
            self._second += 1
            for work in held:
                # An evicted job of a stopped queue is let in again after the queue is, so those that waited come first.
                work.held = False
            self._enqueue()
            self._wake()
        self.settled = False

    def _is_stopped(self, work: Work) -> bool:
        for local in self.world.local_queues:
            if (local.namespace, local.name) == (work.job.namespace, work.job.queue):
                queue = self.state.queues.get(local.queue)
                return queue is None or queue.stopped != "None"
        return True

    def _wake(self) -> None:
        roots = {id(self.state.accounts[name].root()) for name in self._given_back}
        for name, pending in self._pending.items():
            if id(self.state.accounts[name].root()) in roots:
                pending.wake()
        self._given_back.clear()

    def _enqueue(self) -> None:
        """Bring the jobs that are in no queue yet to theirs, as far as it takes jobs."""
        names = {(each.namespace, each.name): each for each in self.world.local_queues}
        for work in self.works.values():
            if work.admission is not None or work.held or work.queue in self._pending:
                continue
            work.queue = ""
            refused = self._refused(names.get((work.job.namespace, work.job.queue)))
            if refused is not None:
                work.obstacles = [refused]
                continue
            local = names[work.job.namespace, work.job.queue]
            work.queue = local.queue
            self._pending[local.queue].add(work)

    def _refused(self, local: LocalQueue | None) -> Obstacle | None:
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

    def _run(self) -> bool:
        """One cycle; whether anything moved."""
        before = [pending.signature() for pending in self._pending.values()]
        heads = []
        self._cycle += 1
        for pending in self._pending.values():
            work = pending.pop()
            if work is None:
                continue
            if self._is_wrong_namespace(work):
                work.obstacles = [Obstacle("namespace")]
                pending.put_back(work, Outcome.WRONG_NAMESPACE)
                continue
            self._forget_old(work)
            heads.append(work)
        if not heads:
            return before != [pending.signature() for pending in self._pending.values()]
        cycle = Cycle(self.state)
        cycle.run(heads)
        self._apply(cycle)
        moved = bool(cycle.admitted or cycle.preempted)
        return moved or before != [pending.signature() for pending in self._pending.values()]

    def _is_wrong_namespace(self, work: Work) -> bool:
        labels = self.world.namespaces.get(work.job.namespace, {})
        return not selects(labels, self.state.queues[work.queue].selector)

    def _forget_old(self, work: Work) -> None:
        """Where the job was in its flavors counts in the next cycle, and as long as nothing was given back."""
        progress = work.progress
        if progress is None or self._cycle - progress.cycle <= 1:
            return
        if self._released > progress.released:
            work.progress = None

    def _apply(self, cycle: Cycle) -> None:
        for entry, outcome in cycle.back:
            work = entry.work
            work.progress = Progress(entry.assignment.tried(), self._cycle, self._released)
            if outcome is Outcome.PREEMPTING:
                work.progress = None
            self._pending[work.queue].put_back(work, outcome)
        for work, by, reason in cycle.preempted.values():
            self._release(work)
            work.admission = None
            work.preempted_by.append(by.key)
            work.evictions[PREEMPTED] = work.evictions.get(PREEMPTED, 0) + 1
            work.obstacles = [Obstacle("preempted", detail=reason)]
            work.progress = None
            self._pending[work.queue].add(work)
        for entry in cycle.admitted:
            work = entry.work
            work.admission = entry.assignment
            work.reserved = self._second
            work.obstacles = None
            work.progress = None
            self._pending[work.queue].remove(work)
            self.state.add(work)

    def _release(self, work: Work) -> None:
        self.state.remove(work)
        self._released += 1
        self._given_back.add(work.queue)


def run(world: World, jobs: Iterable[Job]) -> Simulator:
    """Submit jobs at once, and let all settle."""
    simulator = Simulator(world)
    for job in jobs:
        simulator.submit(job)
    simulator.settle()
    return simulator
