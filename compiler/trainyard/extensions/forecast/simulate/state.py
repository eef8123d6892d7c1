"""What is admitted: the books of all queues, the places of all pods, and the jobs with what became of them.

Source: Kueue 0.19.2, pkg/cache/scheduler/snapshot.go and clusterqueue_snapshot.go, and of what a job gets
pkg/scheduler/flavorassigner/flavorassigner.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

from trainyard.extensions.forecast.simulate.objects import (
    Cell,
    Cohort,
    Flavor,
    Group,
    Job,
    LocalQueue,
    Node,
    PodSet,
    Queue,
)
from trainyard.extensions.forecast.simulate.quota import Account
from trainyard.extensions.forecast.simulate.topology import (
    Empty,
    Forest,
    Layouts,
    Placed,
    Usage,
    Wanted,
    matches,
    untolerated,
)
from trainyard.language.dataclass import dataclass


class Mode(IntEnum):
    """How a job gets what it asks for; a higher one is better."""

    NO_FIT = 0
    PREEMPT = 1
    FIT = 2


class Obstacle(NamedTuple):
    """One thing in a job's way.

    ``kind``: ``unused`` (the quota is in use, ``short`` is missing), ``most`` (beyond the most that the queue can
    get, ``short`` too much), ``uncovered`` (no group of the queue has the resource), ``taint``, ``affinity``,
    ``missing`` (there is no such flavor), ``topology-flavor`` (the flavor has no topology, not the level, or only a
    topology), ``place`` (no domain has room), ``no-place-ever`` (none has, even if no job ran), ``no-topology`` (the
    queue has no flavor with one), ``taken`` (another job of the same cycle took it), ``preempted``, ``namespace`` (the
    queue does not take its jobs), ``queue-inactive``, ``no-queue``, ``no-local-queue``, ``local-queue-stopped``,
    ``not-ready`` (its pods were not ready in time).
    """

    kind: str
    flavor: str = ""
    resource: str = ""
    short: int = 0
    detail: str = ""


class Choice(NamedTuple):
    """The flavor of a resource, how it would be had, how far it is borrowed from, and the flavor tried last."""

    flavor: str
    mode: Mode
    borrowing: int
    tried: int


class SetAssignment:
    """What one set of pods gets."""

    def __init__(self, pods: PodSet, count: int) -> None:
        self.pods = pods
        self.count = count
        self.choices: dict[str, Choice] = {}
        self.obstacles: list[Obstacle] = []
        self.failed = False
        self.placed: Placed | None = None
        self.flavor_of_place: str | None = None

    def mode(self) -> Mode:
        """The worst of its choices."""
        if self.failed:
            return Mode.NO_FIT
        if not self.obstacles:
            return Mode.FIT
        if not self.choices:
            return Mode.NO_FIT
        return min(choice.mode for choice in self.choices.values())

    def set_mode(self, mode: Mode) -> None:
        """Change how everything would be had."""
        self.choices = {
            resource: choice._replace(mode=mode) for resource, choice in self.choices.items()
        }


class Assignment:
    """What a job gets in all."""

    def __init__(self) -> None:
        self.sets: list[SetAssignment] = []
        self.usage: dict[Cell, int] = {}
        self.borrowing = 0
        self.wanted: list[Wanted] | None = None
        self._mode: Mode | None = None

    @property
    def mode(self) -> Mode:
        """The worst of its sets, or what a look at the topology made of it."""
        if not self.sets:
            return Mode.NO_FIT
        if self._mode is None:
            self._mode = min(each.mode() for each in self.sets)
        return self._mode

    def add(self, each: SetAssignment, requests: dict[str, int]) -> None:
        """Count a set in."""
        self.sets.append(each)
        for resource, choice in each.choices.items():
            self.borrowing = max(self.borrowing, choice.borrowing)
            cell = Cell(choice.flavor, resource)
            self.usage[cell] = self.usage.get(cell, 0) + requests.get(resource, 0)

    def set_mode(self, name: str, mode: Mode) -> None:
        """Change how a set, and with it the job, would be had."""
        for each in self.sets:
            if each.pods.name == name:
                each.set_mode(mode)
                self._mode = mode

    def fail(self) -> None:
        """Have nothing: a set cannot be placed at all."""
        self._mode = Mode.NO_FIT

    def assigned_set(self, name: str) -> SetAssignment:
        """The set of a name."""
        return next(each for each in self.sets if each.pods.name == name)

    def take(self, wanted: list[Wanted], placed: dict[str, Placed]) -> None:
        """Remember where the sets go."""
        for want in wanted:
            if want.pods.name in placed:
                each = self.assigned_set(want.pods.name)
                each.placed = placed[want.pods.name]
                each.flavor_of_place = want.flavor

    def places(self) -> Iterator[tuple[str, PodSet, Placed]]:
        """Flavor, set and place of all sets that have one."""
        for each in self.sets:
            if each.placed is not None and each.flavor_of_place is not None:
                yield each.flavor_of_place, each.pods, each.placed

    def obstacles(self) -> list[Obstacle]:
        """What stands in the way of any set."""
        found: list[Obstacle] = []
        for each in self.sets:
            found += each.obstacles
        return found

    def cells_to_free(self) -> frozenset[Cell]:
        """What must be preempted for."""
        cells = set()
        for each in self.sets:
            for resource, choice in each.choices.items():
                if choice.mode is Mode.PREEMPT:
                    cells.add(Cell(choice.flavor, resource))
        return frozenset(cells)

    def tried(self) -> tuple[dict[str, int], ...]:
        """The flavor that was tried last, by set and resource: -1 where all were."""
        return tuple(
            {resource: choice.tried for resource, choice in each.choices.items()}
            for each in self.sets
        )


@dataclass(frozen=True, slots=True)
class World:
    """All that a simulation reads: it never changes while one runs, except by :meth:`Simulator.change`.

    ``fair``: fair sharing is on. ``only_covered``: resources that no group of a queue has are passed over, as Kueue's
    ``quotaCheckStrategy: IgnoreUndeclared`` says. ``empty``: the flavors whose pools have no nodes. ``layouts`` are of
    its nodes, kept for worlds made of this one.
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
    empty: frozenset[str] = frozenset()
    layouts: Layouts = field(default_factory=Layouts, compare=False)


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

    ``since`` is its age in its queue: the second in which it was created, or evicted since its pods were not ready.
    ``reserved`` is when it got its quota, in the simulation's seconds; ``obstacles`` is why it did not, as of the last
    look at it, and ``None`` if there was none.
    """

    def __init__(self, job: Job, order: int) -> None:
        self.job = job
        self.key = job.key
        self.order = order
        self.queue = ""
        self.since = job.created
        self.admission: Assignment | None = None
        self.reserved = 0
        self.preempted_by: list[str] = []
        self.evictions: dict[str, int] = {}
        self.obstacles: list[Obstacle] | None = None
        self.progress: Progress | None = None

    @property
    def rank(self) -> tuple[int, int, int]:
        """What orders the jobs that wait in a queue: priority, then age, then who came first in the same second."""
        return -self.job.priority, self.since, self.order

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """What jobs have in common of which one stands for all (pkg/workload/workload.go, computeSchedulingHash)."""
        return self.job.priority, repr(self.job.pod_sets)

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
        self._victims: dict[str, list[Work]] = {}
        self._join_cohorts()
        self.tree_of = {name: id(account.root()) for name, account in self.accounts.items()}
        shared = Usage()
        self.forests: dict[str, Forest] = {}
        for flavor in world.flavors.values():
            levels = world.topologies.get(flavor.topology or "")
            if levels:
                layout = world.layouts.layout(flavor.labels, levels, world.nodes)
                self.forests[flavor.name] = Forest(flavor, layout, shared)
        self.tas_only = {queue.name: self._only_topologies(queue) for queue in world.queues}
        self.refusals = Refusals(world.flavors, self.forests, self.tas_only)
        self._forests_of = {queue.name: self._topologies_of(queue) for queue in world.queues}
        self.empty = Empty(self._forests_of)

    def _join_cohorts(self) -> None:
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

    def _topologies_of(self, queue: Queue) -> dict[str, Forest]:
        names = [flavor for group in queue.groups for flavor in group.flavors]
        return {name: self.forests[name] for name in names if name in self.forests}

    def forests_of(self, queue: str) -> Mapping[str, Forest]:
        """The topologies of a queue's flavors."""
        return self._forests_of[queue]

    def add(self, work: Work) -> None:
        """Enter an admitted job."""
        self.works[work.queue][work.key] = work
        self._victims.pop(work.queue, None)
        self.count(work, 1)

    def remove(self, work: Work) -> None:
        """Take a job out, with its admission."""
        del self.works[work.queue][work.key]
        self._victims.pop(work.queue, None)
        self.count(work, -1)

    def victims(self, queue: str) -> Sequence[Work]:
        """The admitted jobs of a queue in the order in which they are preempted: of low priority first, then what got
        its quota last; of the same second, what came last (Kueue: a uid, which is random)."""
        found = self._victims.get(queue)
        if found is None:
            found = sorted(self.works[queue].values(), key=precedence)
            self._victims[queue] = found
        return found

    def count(self, work: Work, sign: int) -> None:
        """Count what an admitted job has as used, or with ``-1`` as free; it stays in the lists."""
        self.count_quota(work.queue, work.usage(), sign)
        for flavor, pods, placed in work.places():
            self.forests[flavor].place(placed, pods.requests, sign)

    def count_quota(self, queue: str, usage: Mapping[Cell, int], sign: int) -> None:
        """Count quotas as used, or with ``-1`` as free."""
        account = self.accounts[queue]
        for cell, amount in usage.items():
            if sign > 0:
                account.balance(cell).use(amount)
            else:
                account.balance(cell).free(amount)

    @contextmanager
    def without(self, works: Iterable[Work]) -> Iterator[None]:
        """The books as if jobs were gone; they stay candidates."""
        gone = list(works)
        for work in gone:
            self.count(work, -1)
        yield
        for work in reversed(gone):
            self.count(work, 1)


def precedence(work: Work) -> tuple[int, int, int]:
    """What orders jobs to be preempted (pkg/scheduler/preemption/common)."""
    return work.job.priority, -work.reserved, -work.order


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


# Flavors that a set of pods may not use at all: taints, selectors and affinity, and what it wants of a topology.
#
# Source: Kueue 0.19.2, pkg/scheduler/flavorassigner/flavorassigner.go (flavorSelector, checkFlavorForPodSets) and
# tas_flavorassigner.go.


class Refusals:
    """What refuses sets of pods. It follows from objects that do not change, so it is found once for each set."""

    def __init__(
        self,
        flavors: Mapping[str, Flavor],
        forests: Mapping[str, Forest],
        tas_only: Mapping[str, bool],
    ) -> None:
        self._flavors = flavors
        self._forests = forests
        self._tas_only = tas_only
        # With the set itself, so that nothing else gets its identity.
        self._known: dict[tuple[str, str, int], tuple[PodSet, Obstacle | None]] = {}

    def refusal(self, pods: PodSet, queue: str, name: str, group: Group) -> Obstacle | None:
        """Why a set may not use a flavor of a queue; ``None`` if it may."""
        key = queue, name, id(pods)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = pods, self._refusal(pods, queue, name, group)
        return known[1]

    def _refusal(self, pods: PodSet, queue: str, name: str, group: Group) -> Obstacle | None:
        flavor = self._flavors.get(name)
        if flavor is None:
            return Obstacle("missing", name)
        refused = self._topology_refusal(pods, queue, flavor, group)
        if refused is not None:
            return refused
        taint = untolerated(flavor.taints, (*pods.tolerations, *flavor.tolerations))
        if taint is not None:
            return Obstacle("taint", name, detail=str(taint.get("key")))
        if not _is_selected(pods, flavor):
            return Obstacle("affinity", name)
        return None

    def _topology_refusal(
        self, pods: PodSet, queue: str, flavor: Flavor, group: Group
    ) -> Obstacle | None:
        if pods.placement is None:
            if self._tas_only[queue] or flavor.topology is None:
                return None
            return Obstacle("topology-flavor", flavor.name, detail="only")
        if flavor.topology is None:
            if not any(name in group.resources for name in pods.requests):
                return None
            return Obstacle("topology-flavor", flavor.name, detail="none")
        forest = self._forests.get(flavor.name)
        level = pods.placement.level
        if forest is None or (level is not None and forest.level(level) is None):
            return Obstacle("topology-flavor", flavor.name, detail=level or "none")
        return None


def _is_selected(pods: PodSet, flavor: Flavor) -> bool:
    """Whether a flavor has what pods select, of the labels that it says anything of."""
    selector = {key: value for key, value in (pods.selector or {}).items() if key in flavor.labels}
    terms: list[tuple[Mapping[str, Any], ...]] = []
    for term in pods.terms:
        known = tuple(each for each in term if each.get("key") in flavor.labels)
        if not known:
            # Terms are alternatives, so one that says nothing of this flavor is fulfilled.
            terms.clear()
            break
        terms.append(known)
    return matches(flavor.labels, selector, tuple(terms))
