"""What is admitted: the books of all queues, the places of all pods, and the jobs with what became of them.

Source: Kueue 0.19.2, pkg/cache/scheduler/snapshot.go and clusterqueue_snapshot.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from compiler.dataclass import dataclass
from compiler.simulate.assignment import Assignment, Obstacle
from compiler.simulate.domains import Forest, Usage
from compiler.simulate.objects import Cell, Cohort, Flavor, Job, LocalQueue, Node, PodSet, Queue
from compiler.simulate.placing import Placed
from compiler.simulate.quota import Account


@dataclass(frozen=True, slots=True)
class World:
    """All that a simulation reads: it never changes while one runs, except by :meth:`Simulator.change`.

    ``fair``: fair sharing is on. ``only_covered``: resources that no group of a queue has are passed over, as Kueue's
    ``quotaCheckStrategy: IgnoreUndeclared`` says.
    """

    flavors: Mapping[str, Flavor]
    topologies: Mapping[str, tuple[str, ...]]
    cohorts: tuple[Cohort, ...]
    queues: tuple[Queue, ...]
    local_queues: tuple[LocalQueue, ...]
    namespaces: Mapping[str, Mapping[str, str]]
    nodes: tuple[Node, ...]
    fair: bool = False
    only_covered: bool = False


class Progress:
    """Which flavors a job tried last, in which cycle, and how much had been given back by then."""

    __slots__ = ("cycle", "released", "tried")

    def __init__(self, tried: tuple[dict[str, int], ...], cycle: int, released: int) -> None:
        self.tried = tried
        self.cycle = cycle
        self.released = released

    def is_pending(self) -> bool:
        """Whether a flavor is left to try."""
        return any(tried != -1 for each in self.tried for tried in each.values())

    def next(self, index: int, resource: str) -> int:
        """The flavor to go on with."""
        if index >= len(self.tried):
            return 0
        return self.tried[index].get(resource, -1) + 1


class Work:
    """A job in the simulation.

    ``reserved`` is when it got its quota, in the simulation's seconds; ``obstacles`` is why it did not, as of the last
    look at it, and ``None`` if there was none.
    """

    def __init__(self, job: Job, order: int) -> None:
        self.job = job
        self.order = order
        self.shape = job.shape
        self.queue = ""
        self.admission: Assignment | None = None
        self.reserved = 0
        self.preempted_by: list[str] = []
        self.evictions: dict[str, int] = {}
        self.held = False
        self.obstacles: list[Obstacle] | None = None
        self.progress: Progress | None = None

    @property
    def key(self) -> str:
        """Namespace and name."""
        return self.job.key

    def usage(self) -> Mapping[Cell, int]:
        """What it uses of quotas."""
        return self.admission.usage if self.admission else {}

    def places(self) -> Iterator[tuple[str, PodSet, Placed]]:
        """Where its pods are."""
        if self.admission:
            yield from self.admission.places()


class State:
    """The books: quotas in use, pods in place, and the admitted jobs of each queue."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.queues = {queue.name: queue for queue in world.queues}
        self.accounts = {
            queue.name: Account(queue.name, queue.quotas, queue.weight) for queue in world.queues
        }
        self.works: dict[str, dict[str, Work]] = {queue.name: {} for queue in world.queues}
        self._join()
        shared = Usage()
        self.forests: dict[str, Forest] = {}
        for flavor in world.flavors.values():
            levels = world.topologies.get(flavor.topology or "")
            if levels:
                self.forests[flavor.name] = Forest(flavor, levels, world.nodes, shared)
        self.tas_only = {queue.name: self._only_topologies(queue) for queue in world.queues}

    def _join(self) -> None:
        """The tree. A cohort that is only named exists without quotas; one in a circle has no parent."""
        cohorts: dict[str, Account] = {}
        parents: dict[str, str | None] = {}
        for cohort in self.world.cohorts:
            cohorts[cohort.name] = Account(cohort.name, cohort.quotas or {}, cohort.weight)
            parents[cohort.name] = cohort.parent
        for name in (*parents.values(), *(queue.cohort for queue in self.world.queues)):
            if name:
                cohorts.setdefault(name, Account(name, {}))
        for name, parent in parents.items():
            if parent and not _is_below(parent, name, parents):
                cohorts[name].above = cohorts[parent]
                cohorts[parent].cohorts.append(cohorts[name])
        for queue in self.world.queues:
            if queue.cohort:
                account = self.accounts[queue.name]
                account.above = cohorts[queue.cohort]
                cohorts[queue.cohort].queues.append(account)
        self.cohorts = cohorts
        for account in (*cohorts.values(), *self.accounts.values()):
            if account.above is None:
                account.sum_up()

    def _only_topologies(self, queue: Queue) -> bool:
        flavors = [flavor for group in queue.groups for flavor in group.flavors]
        return all(self._has_topology(flavor) for flavor in flavors)

    def _has_topology(self, flavor: str) -> bool:
        found = self.world.flavors.get(flavor)
        return found is not None and found.topology is not None

    def forests_of(self, queue: Queue) -> dict[str, Forest]:
        """The topologies of a queue's flavors."""
        names = [flavor for group in queue.groups for flavor in group.flavors]
        return {name: self.forests[name] for name in names if name in self.forests}

    def add(self, work: Work) -> None:
        """Enter an admitted job."""
        self.works[work.queue][work.key] = work
        self._count(work, 1)

    def remove(self, work: Work) -> None:
        """Take a job out, with its admission."""
        del self.works[work.queue][work.key]
        self._count(work, -1)

    def _count(self, work: Work, sign: int) -> None:
        self.count_quota(work.queue, work.usage(), sign)
        for flavor, pods, placed in work.places():
            self.forests[flavor].place(placed, pods.requests, sign)

    def count_quota(self, queue: str, usage: Mapping[Cell, int], sign: int) -> None:
        """Count quotas as used, or with ``-1`` as free."""
        account = self.accounts[queue]
        for cell, amount in usage.items():
            if sign > 0:
                account.use(cell, amount)
            else:
                account.free(cell, amount)

    @contextmanager
    def without(self, works: Iterable[Work]) -> Iterator[None]:
        """The books as if jobs were gone; they stay candidates."""
        gone = list(works)
        for work in gone:
            self._count(work, -1)
        yield
        for work in reversed(gone):
            self._count(work, 1)


def _is_below(name: str, other: str, parents: Mapping[str, str | None]) -> bool:
    """Whether a cohort is another one or below it."""
    seen = set()
    here: str | None = name
    while here and here not in seen:
        if here == other:
            return True
        seen.add(here)
        here = parents.get(here)
    return False
