"""The verdicts on all jobs of a cluster, once all are submitted, in whatever order they come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby
from random import Random

from trainyard.extensions.forecast.simulate.compiled import Cluster, cluster
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.reasons import (
    Constraint,
    Edit,
    blockers,
    conflict,
    edits,
    fits_alone,
    queue_of,
    sentence,
)
from trainyard.extensions.forecast.simulate.simulator import Simulator, run
from trainyard.extensions.forecast.simulate.state import State, Work, World
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict
from trainyard.extensions.forecast.simulate.witness import Witnesses
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work as PlannedWork
from trainyard.language.dataclass import dataclass

MOST_JOBS = 200
"""Of more jobs, of which many wait, a forecast takes longer than the rest of a report (docs/simulate.md)."""
_TRIED = 3_000
"""Changes that help are looked for until so many jobs were simulated: each is tried out with all jobs that share
quotas or nodes."""
_MOST_RIVALS = 500
"""Of a job that shares them with more, no changes are looked for."""


def forecast(cluster: Cluster) -> Forecast:
    """What becomes of every job once all are submitted, beside what runs already.

    In which order they come is not certain (:class:`Coming`). What is said without a condition holds in every order
    that is tried; where a job is admitted in some of them, the condition is that it comes before the others.
    """
    return _Forecaster(cluster).forecast()


class _Forecaster:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        coming = Coming(cluster.earlier, cluster.submitted_jobs, cluster.new_jobs)
        self._simulator = coming.expected().run(cluster.world)
        self._neighbours = neighbourhoods(self._simulator.state)
        groups = self._by_neighbourhood((*coming.submitted, *coming.new))
        self._orders = [self._simulator, coming.at_once().run(cluster.world)]
        self._orders += [each.run(cluster.world) for each in coming.others(groups)]
        self._settled = all(each.settled for each in self._orders)
        self._is_drawn = coming.is_drawn(groups)
        self._witnesses = Witnesses(cluster, self._simulator)
        self._other_witnesses: dict[int, Witnesses] = {}
        self._alone = Simulator(cluster.world)
        self._fitting: dict[Hashable, bool] = {}
        self._conflicts: dict[Hashable, Sequence[Constraint]] = {}
        self._edits_alone: dict[Hashable, Sequence[Edit]] = {}
        self._blocking: dict[Hashable, Sequence[Work]] = {}
        self._alike: dict[Hashable, Work] | None = None
        self._ended: dict[str, list[str]] = {}
        for work in self._simulator.works.values():
            for key in set(work.preempted_by):
                self._ended.setdefault(key, []).append(self._title_of(work.key))
        self._together: dict[frozenset[str], Sequence[Job]] = {}
        self._tried = 0
        self._pools = {
            node.name: pool.title for pool in cluster.pools if pool.bounded for node in pool.nodes
        }

    def _by_neighbourhood(self, jobs: Sequence[Job]) -> Sequence[Sequence[Job]]:
        """The jobs of each neighbourhood, in their order."""
        found: dict[frozenset[str], list[Job]] = {}
        for job in jobs:
            queue = self._simulator.works[job.key].queue
            found.setdefault(self._neighbours.get(queue, frozenset()), []).append(job)
        return list(found.values())

    def forecast(self) -> Forecast:
        """All verdicts."""
        verdicts = [self._verdict_on(job) for job in self._cluster.jobs]
        verdicts += [
            Verdict(title, "", Kind.UNKNOWN, conditions=(reason,))
            for title, reason in self._cluster.left_out
        ]
        verdicts.sort(key=lambda verdict: verdict.job)
        notes = self._cluster.notes
        if self._tried > _TRIED:
            notes = (
                *notes,
                "for some jobs no changes that help were looked for: too many share quotas or nodes",
            )
        if not self._is_drawn:
            notes = (*notes, "of the orders in which the jobs may come four were tried")
        if self._cluster.earlier:
            names = ", ".join(f"`{job.name}`" for job in self._cluster.earlier)
            notes = (*notes, f"runs that the spec no longer asks for hold their quota: {names}")
        earlier = {job.key for job in self._cluster.earlier}
        waiting = [
            self._title_of(key)
            for key, work in self._simulator.works.items()
            if work.admission is None and key not in earlier
        ]
        return Forecast(
            self._cluster.name, tuple(verdicts), notes, tuple(sorted(waiting)), self._settled
        )

    def _title_of(self, key: str) -> str:
        return self._cluster.titles.get(key, key)

    def _verdict_on(self, job: Job) -> Verdict:
        work = self._simulator.works[job.key]
        admitting = [each for each in self._orders if each.works[job.key].admission is not None]
        refusing = [each for each in self._orders if each.works[job.key].admission is None]
        if not admitting:
            return self._waits_for(work) if self._fits_alone(job) else self._never_fits(job)
        if refusing:
            return self._fits_in_some_orders(
                job, admitting=admitting[0], refusing=refusing[0].works[job.key]
            )
        like = self._refused_alike(job)
        if like is not None:
            return self._fits_in_some_orders(job, admitting=admitting[0], refusing=like)
        return self._fits(job)

    def _refused_alike(self, job: Job) -> Work | None:
        """Where not each job was tried as the last one: one that is like a job, and is refused in some order. Either
        may come first."""
        if self._is_drawn:
            return None
        if self._alike is None:
            self._alike = {}
            for simulator in self._orders:
                for work in simulator.works.values():
                    if work.admission is None:
                        self._alike.setdefault(_job_kind(work.job), work)
        return self._alike.get(_job_kind(job))

    def _fits(self, job: Job) -> Verdict:
        """The order that is expected says where its pods are, unless it has fewer of them in another one."""
        simulator = min(self._orders, key=lambda each: _admitted_pods(each.works[job.key]))
        work, witnesses = simulator.works[job.key], self._witnesses_of(simulator)
        conditions = witnesses.conditions(work)
        return Verdict(
            self._title_of(work.key),
            work.queue,
            Kind.ONLY_IF if conditions else Kind.FITS,
            _admitted_pods(work),
            witnesses.where(work),
            conditions,
            preempts=tuple(self._ended.get(work.key, ())),
        )

    def _fits_alone(self, job: Job) -> bool:
        """Whether a job fits where no other one is: always the same empty cluster, since making one takes time."""
        kind = _job_kind(job)
        if kind not in self._fitting:
            self._alone.submit(job)
            self._alone.settle()
            self._fitting[kind] = self._alone.works[job.key].admission is not None
            self._alone.end([job.key])
            self._alone.settle()
        return self._fitting[kind]

    def _blockers_of(self, work: Work) -> Sequence[Work]:
        """For whom a job waits; jobs of one queue that ask for the same wait for the same."""
        simulator = self._simulator_of(work)
        kind = id(simulator), _job_kind(work.job)
        if kind not in self._blocking:
            self._blocking[kind] = blockers(simulator.state, work)
        return self._blocking[kind]

    def _fits_in_some_orders(self, job: Job, *, admitting: Simulator, refusing: Work) -> Verdict:
        """A job that fits in one order, and not in another one. ``refusing``: what becomes of it there."""
        rivals = [each for each in self._blockers_of(refusing) if each.key != job.key]
        names = [self._title_of(each.key) for each in rivals or self._first_of_queue(refusing)]
        shown = ", ".join(f"`{name}`" for name in sorted(names)) or "others"
        condition = f"it is admitted before {shown}"
        of_nodes = self._witnesses_of(admitting).conditions(admitting.works[job.key])
        work = admitting.works[job.key]
        return Verdict(
            self._title_of(work.key),
            work.queue,
            Kind.ONLY_IF,
            conditions=(condition, *of_nodes),
            edits=tuple(self._edits_in_words(job)),
        )

    def _witnesses_of(self, simulator: Simulator) -> Witnesses:
        """Where the jobs that a simulation admitted would run."""
        if simulator is self._simulator:
            return self._witnesses
        known = self._other_witnesses.get(id(simulator))
        if known is None:
            known = self._other_witnesses[id(simulator)] = Witnesses(self._cluster, simulator)
        return known

    def _waits_for(self, work: Work) -> Verdict:
        found = self._blockers_of(work)
        names = sorted(self._title_of(each.key) for each in found)
        if not names:
            ahead = self._first_of_queue(work)
            names = [self._title_of(each.key) for each in ahead]
        return Verdict(
            self._title_of(work.key),
            work.queue,
            Kind.WAITS,
            blockers=tuple(names),
            edits=tuple(self._edits_in_words(work.job)),
        )

    def _first_of_queue(self, work: Work) -> Sequence[Work]:
        """The job that waits before it in a strict queue: what is behind it is not looked at."""
        waiting = [
            each
            for each in self._simulator_of(work).works.values()
            if each.queue == work.queue and each.admission is None and each is not work
        ]
        return [min(waiting, key=lambda each: each.rank)] if waiting else []

    def _simulator_of(self, work: Work) -> Simulator:
        """The simulation that a job is of."""
        return next(each for each in self._orders if each.works.get(work.key) is work)

    def _never_fits(self, job: Job) -> Verdict:
        world = self._cluster.world
        kind = _job_kind(job)
        if kind not in self._conflicts:
            self._conflicts[kind] = conflict(world, job)
        found = [sentence(world, job, each) for each in self._conflicts[kind]]
        queue = queue_of(world, job)
        return Verdict(
            self._title_of(job.key),
            queue.name if queue else "",
            Kind.NEVER,
            conflict=tuple(found),
            edits=tuple(self._edits_in_words(job, alone=True)),
        )

    def _in_the_way(self, job: Job) -> Sequence[Job]:
        """The jobs of a neighbourhood, in their order, the job itself among them."""
        works = self._simulator.works
        group = self._neighbours.get(works[job.key].queue, frozenset())
        if group not in self._together:
            jobs = self._cluster.all_jobs
            self._together[group] = [each for each in jobs if works[each.key].queue in group]
        return self._together[group]

    def _edits_in_words(self, job: Job, *, alone: bool = False) -> list[str]:
        title = self._title_of(job.key)
        if not alone:
            return [edit.named(title) for edit in self._edits_beside(job)]
        kind = _job_kind(job)
        if kind not in self._edits_alone:
            self._edits_alone[kind] = self._tried_out(job, (), ())
        return [edit.named(title) for edit in self._edits_alone[kind]]

    def _edits_beside(self, job: Job) -> Sequence[Edit]:
        """Changes that let a job in beside all that were admitted without it."""
        together = self._in_the_way(job)
        if len(together) > _MOST_RIVALS + 1:
            self._tried = _TRIED + 1
        if self._tried > _TRIED:
            return ()
        others = [each for each in together if each.key != job.key]
        works = self._simulator.works
        admitted = [each.key for each in others if works[each.key].admission is not None]
        return self._tried_out(job, others, admitted)

    def _tried_out(
        self, job: Job, others: Sequence[Job], admitted: Sequence[str]
    ) -> Sequence[Edit]:
        if self._tried > _TRIED:
            return ()

        def lets_in(world: World, changed: Job) -> bool:
            self._tried += 1 + len(others)
            now = run(world, [*others, changed]).works
            return all(now[key].admission is not None for key in (job.key, *admitted))

        return edits(self._cluster.world, job, self._pools, lets_in)


def _job_kind(job: Job) -> Hashable:
    """What jobs have in common that are treated alike."""
    return job.namespace, job.queue, job.priority, job.created, repr(job.pod_sets)


def _admitted_pods(work: Work) -> int:
    """How many pods of an admitted job there are."""
    assert work.admission is not None
    return sum(each.count for each in work.admission.sets)


# The jobs that are not admitted if all are submitted at once, and why, as rules ask for them.


_MOST_JOBS_OF_CHECK = 200
"""Of more jobs nothing is said: to simulate them may take longer than the rest of a check (docs/simulate.md)."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that is not admitted.

    ``kinds`` and ``reasons``: of one that is admitted nowhere, which constraints exclude it (``reasons.py``), and
    what they are in words. ``behind``: of one that would fit without others, these others; ``outranked``: all of them
    have a higher priority.
    """

    kinds: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()
    behind: tuple[PlannedWork, ...] = ()
    outranked: bool = False

    @property
    def never(self) -> bool:
        """Whether it is not admitted even where no other job is."""
        return bool(self.kinds)


def outlook(reading: Reading) -> dict[str, Waiting]:
    """The jobs that wait, by namespace and name; none of them where there are too many jobs."""
    if len(reading.works) > _MOST_JOBS_OF_CHECK:
        return {}
    subject = cluster("", reading)
    works = {work.key: work for work in reading.works}
    together = run(subject.world, subject.all_jobs)
    found = {}
    for job in subject.jobs:
        waiting = together.works[job.key]
        if waiting.admission is not None:
            continue
        if not fits_alone(subject.world, job):
            excluding = conflict(subject.world, job)
            kinds = frozenset(each.kind for each in excluding)
            reasons = tuple(sentence(subject.world, job, each) for each in excluding)
            found[job.key] = Waiting(kinds, reasons)
            continue
        ahead = blockers(together.state, waiting) if waiting.queue else []
        behind = tuple(works[each.key] for each in ahead if each.key in works)
        outranked = all(each.job.priority > job.priority for each in ahead)
        found[job.key] = Waiting(behind=behind, outranked=outranked)
    return found


# The ways in which jobs may reach Kueue.
#
# What runs already comes first. Flux creates the jobs of a merge one after the other, by kind, namespace and name
# (kustomize-controller 1.9.5, pkg/ssa SortableUnstructureds), within about a second. Each becomes a Workload once its
# own controller has looked at it, and Kueue may decide in between or after all. It orders jobs of one second by their
# uids, which are random. So there is one order to expect, and others that may come instead.


_EACH_FIRST_AND_LAST = 40
"""Where so many jobs at most are in each other's way, each is also simulated as the first and as the last one."""
_MOST_IN_ORDERS = 400
"""Of so many jobs of a cluster in all: each order is a simulation of all of them."""
_SINGLY_TOO = 12
"""Where so few are in each other's way, that is done one after the other as well as all at once."""
_AT_RANDOM = 24
"""Where each can be first and last, so many orders are drawn besides."""
Groups = Sequence[Sequence[Job]]


@dataclass(frozen=True, slots=True)
class Arrival:
    """Jobs in the order in which they come, those of one batch before Kueue looks again. ``ranks``: of jobs of one
    second, what orders them in their queue; of none it is the order in which they come."""

    batches: tuple[tuple[Job, ...], ...]
    ranks: tuple[str, ...] = ()

    def run(self, world: World) -> Simulator:
        """What becomes of them."""
        simulator = Simulator(world)
        ranks = {key: rank for rank, key in enumerate(self.ranks)}
        for batch in self.batches:
            for job in batch:
                simulator.submit(job, ranks.get(job.key))
            simulator.settle()
        return simulator


@dataclass(frozen=True, slots=True)
class Coming:
    """Jobs by when they come: ``earlier`` runs that nothing asks for any more, ``submitted`` ones, and ``new`` ones in
    the order in which Flux creates them."""

    earlier: tuple[Job, ...]
    submitted: tuple[Job, ...]
    new: tuple[Job, ...]

    def expected(self) -> Arrival:
        """One after the other."""
        return self._arrival_of(self.submitted, self.new)

    def at_once(self) -> Arrival:
        """All new ones before Kueue looks at any, as where their queues were not active before."""
        return self._arrival_of(self.submitted, self.new, together=True)

    def is_drawn(self, groups: Groups) -> bool:
        """Whether more orders than a few are tried."""
        return (
            len(self._all_jobs) <= _MOST_IN_ORDERS
            and _largest_group(groups) <= _EACH_FIRST_AND_LAST
        )

    @property
    def _all_jobs(self) -> tuple[Job, ...]:
        return (*self.submitted, *self.new)

    def others(self, groups: Groups) -> Iterator[Arrival]:
        """Other ways in which they may come. ``groups``: the jobs that are in each other's way; one order is another
        one of each group at the same time."""
        submitted, new = _reversed(self.submitted), _reversed(self.new)
        yield self._arrival_of(submitted, new, together=True)
        yield self._arrival_of(submitted, new)
        if not self.is_drawn(groups):
            return
        for index in range(_largest_group(groups)):
            moved = {group[index].key for group in groups if index < len(group)}
            for together in (True, False) if _largest_group(groups) <= _SINGLY_TOO else (True,):
                yield self._with_moved(moved, last=True, together=together)
                yield self._with_moved(moved, last=False, together=together)
        yield from self._at_random()

    def _with_moved(self, moved: Set[str], *, last: bool, together: bool) -> Arrival:
        submitted = _moved_to_end(self.submitted, moved, last=last)
        new = _moved_to_end(self.new, moved, last=last)
        return self._arrival_of(submitted, new, together=together)

    def _at_random(self) -> Iterator[Arrival]:
        draw = Random(len(self.new))  # noqa: S311 - the same in every run
        for _ in range(_AT_RANDOM):
            submitted, new = (_shuffled(jobs, draw) for jobs in (self.submitted, self.new))
            ranks = [job.key for job in _shuffled(self._all_jobs, draw)]
            batches = [self.earlier, *_one_by_one(submitted), *_random_batches(new, draw)]
            yield Arrival(tuple(filter(None, batches)), tuple(ranks))

    def _arrival_of(
        self, submitted: Sequence[Job], new: Sequence[Job], *, together: bool = False
    ) -> Arrival:
        batches = [self.earlier, *_one_by_one(submitted)]
        batches += _by_second(new) if together else _one_by_one(new)
        return Arrival(tuple(filter(None, batches)))


def _by_second(jobs: Iterable[Job]) -> list[tuple[Job, ...]]:
    """Jobs by the second in which they were created, in the order in which they stand."""
    ordered = sorted(jobs, key=lambda job: job.created)
    return [tuple(group) for _, group in groupby(ordered, key=lambda job: job.created)]


def _one_by_one(jobs: Iterable[Job]) -> list[tuple[Job, ...]]:
    return [(job,) for group in _by_second(jobs) for job in group]


def _reversed(jobs: Sequence[Job]) -> tuple[Job, ...]:
    return tuple(reversed(jobs))


def _moved_to_end(jobs: Sequence[Job], moved: Set[str], *, last: bool) -> tuple[Job, ...]:
    """Jobs with some of them at an end."""
    ends = [job for job in jobs if job.key in moved]
    others = [job for job in jobs if job.key not in moved]
    return (*others, *ends) if last else (*ends, *others)


def _largest_group(groups: Groups) -> int:
    return max(map(len, groups), default=0)


def _shuffled(jobs: Sequence[Job], draw: Random) -> tuple[Job, ...]:
    return tuple(draw.sample(list(jobs), len(jobs)))


def _random_batches(jobs: Sequence[Job], draw: Random) -> list[tuple[Job, ...]]:
    """Batches of any size."""
    batches: list[tuple[Job, ...]] = []
    for group in _by_second(jobs):
        left = list(group)
        while left:
            size = draw.randint(1, len(left))
            batches.append(tuple(left[:size]))
            left = left[size:]
    return batches


# Queues whose jobs may be in each other's way: of one tree of cohorts, or with topologies of the same nodes.


def neighbourhoods(state: State) -> Mapping[str, frozenset[str]]:
    """The queues that share anything with each queue, itself included."""
    users: dict[Hashable, list[str]] = {}
    shares = {name: list(_what_it_uses(state, name)) for name in state.queues}
    for name, shared in shares.items():
        for each in shared:
            users.setdefault(each, []).append(name)
    found: dict[str, frozenset[str]] = {}
    for name in state.queues:
        if name not in found:
            group = _queues_reached(name, shares, users)
            found |= dict.fromkeys(group, group)
    return found


def _queues_reached(
    first: str, shares: Mapping[str, list[Hashable]], users: dict[Hashable, list[str]]
) -> frozenset[str]:
    group = {first}
    left = [first]
    while left:
        for shared in shares[left.pop()]:
            # Each is gone through once: who uses it is in the group then.
            more = [name for name in users.pop(shared, ()) if name not in group]
            group.update(more)
            left += more
    return frozenset(group)


def _what_it_uses(state: State, queue: str) -> Iterator[Hashable]:
    """The tree of a queue, and the nodes or lowest domains of its topologies."""
    yield state.tree_of[queue]
    for forest in state.forests_of(queue).values():
        if forest.of_hosts:
            yield from forest.leaves
        else:
            yield forest.flavor.name
