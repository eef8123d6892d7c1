"""The verdicts on all jobs of a cluster, once all are submitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

from trainyard.extensions.forecast.simulate.blockers import blockers
from trainyard.extensions.forecast.simulate.compiled import Cluster
from trainyard.extensions.forecast.simulate.constraints import Constraint, conflict, queue_of
from trainyard.extensions.forecast.simulate.domains import HOSTNAME
from trainyard.extensions.forecast.simulate.edits import Edit, edits
from trainyard.extensions.forecast.simulate.explain import sentence
from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.places import Places
from trainyard.extensions.forecast.simulate.placing import Unplaced
from trainyard.extensions.forecast.simulate.simulator import Simulator, run
from trainyard.extensions.forecast.simulate.state import State, Work, World
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict, Where
from trainyard.language.diagnostics.words import numbered

# Queues whose jobs may be in each other's way: of one tree of cohorts, or with topologies of the same nodes.


def neighbourhoods(state: State) -> Mapping[str, frozenset[str]]:
    """The queues that share anything with each queue, itself included."""
    users: dict[Hashable, list[str]] = {}
    shares = {name: list(_shared(state, name)) for name in state.queues}
    for name, shared in shares.items():
        for each in shared:
            users.setdefault(each, []).append(name)
    found: dict[str, frozenset[str]] = {}
    for name in state.queues:
        if name not in found:
            group = _reached(name, shares, users)
            found |= dict.fromkeys(group, group)
    return found


def _reached(
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


def _shared(state: State, queue: str) -> Iterator[Hashable]:
    """The tree of a queue, and the nodes or lowest domains of its topologies."""
    yield state.tree_of[queue]
    for forest in state.forests_of(queue).values():
        if forest.of_hosts:
            yield from forest.leaves
        else:
            yield forest.flavor.name


# Where admitted jobs would run, and what must hold of nodes that Kueue does not look at.


class Witnesses:
    """The places of all admitted jobs."""

    def __init__(self, cluster: Cluster, simulator: Simulator) -> None:
        self._cluster = cluster
        self._world = cluster.world
        self._pool_of = {
            node.name: (pool.title, pool.zone) for pool in cluster.pools for node in pool.nodes
        }
        self._labels = {node.name: node.labels for node in cluster.world.nodes}
        self._short: dict[str, list[str]] = {}
        self._titles: dict[str, str] = {}
        self._places = Places(self._world)
        admitted = [work for work in simulator.works.values() if work.admission is not None]
        # What has a place already is on its nodes before the others look for one.
        for work in admitted:
            self._places.take(work)
        for work in admitted:
            short = self._places.find(work)
            self._short[work.key] = [self._more(flavor, unplaced) for flavor, unplaced in short]

    def _more(self, flavor: str, unplaced: Unplaced) -> str:
        names = self._pools(flavor)
        short = unplaced.asked - unplaced.fit
        room = numbered(unplaced.fit, "pod")
        more = numbered(short, "more pod")
        return f"{names} has room for {more}: quota is there, nodes for {room}"

    def _pools(self, flavor: str) -> str:
        """The pools of a flavor, as people call them."""
        found = self._titles.get(flavor)
        if found is None:
            hosts = self._places.hosts(flavor)
            titles = {self._pool_of[host][0] for host in hosts if host in self._pool_of}
            if not hosts:
                titles = {pool.title for pool in self._cluster.pools if flavor in pool.flavors}
            found = ", ".join(f"`{title}`" for title in sorted(titles)) or f"flavor `{flavor}`"
            self._titles[flavor] = found
        return found

    def conditions(self, work: Work) -> tuple[str, ...]:
        """What must hold of nodes, in sentences."""
        found = list(self._short.get(work.key, ()))
        for _, pods, _ in work.places():
            placement = pods.placement
            if placement is None or placement.mode != "required":
                continue
            if placement.level in self._cluster.assumed_levels:
                free = numbered(pods.count, "free node")
                found.append(
                    f"one domain of `{placement.level}` has {free}: which nodes share one is known once"
                    " they run"
                )
        return tuple(found)

    def where(self, work: Work) -> tuple[Where, ...]:
        """The pools, zones and domains of a job's pods."""
        pods: Counter[tuple[str, str, str]] = Counter()
        nodes: dict[tuple[str, str, str], set[tuple[str, ...]]] = {}
        for flavor, _, placed in self._places.of(work.key):
            for id, count in placed.items():
                place = self._place(flavor, id)
                pods[place] += count
                nodes.setdefault(place, set()).add(id)  # Ray's head and a worker may share one
        return tuple(Where(*place, pods[place], len(nodes[place])) for place in sorted(pods))

    def _place(self, flavor: str, id: tuple[str, ...]) -> tuple[str, str, str]:
        host = id[-1]
        pool, zone = self._pool_of.get(host, (flavor, ""))
        labels = self._labels.get(host)
        if labels is None:
            return pool, zone, "/".join(id)
        topology = self._world.topologies.get(self._world.flavors[flavor].topology or "", ())
        known = [
            labels[level]
            for level in topology
            if level in labels and level != HOSTNAME and level not in self._cluster.assumed_levels
        ]
        return pool, zone, "/".join(known)


MOST_JOBS = 200
"""Of more jobs, of which many wait, a forecast takes longer than the rest of a report (docs/simulate.md)."""
_TRIED = 3_000
"""Changes that help are looked for until so many jobs were simulated: each is tried out with all jobs that share
quotas or nodes."""
_MOST_RIVALS = 500
"""Of a job that shares them with more, no changes are looked for."""


def forecast(cluster: Cluster) -> Forecast:
    """What becomes of every job once all are submitted, beside what runs already.

    In which order they come is not certain (``arrivals.py``). What is said without a condition holds in every order
    that is tried; where a job is admitted in some of them, the condition is that it comes before the others.
    """
    return _Together(cluster).forecast()


class _Together:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        coming = cluster.coming
        self._simulator = coming.expected().run(cluster.world)
        self._neighbours = neighbourhoods(self._simulator.state)
        groups = self._groups((*coming.submitted, *coming.new))
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
                self._ended.setdefault(key, []).append(self._title(work.key))
        self._together: dict[frozenset[str], Sequence[Job]] = {}
        self._tried = 0
        self._pools = {
            node.name: pool.title for pool in cluster.pools if pool.bounded for node in pool.nodes
        }

    def _groups(self, jobs: Sequence[Job]) -> Sequence[Sequence[Job]]:
        """The jobs of each neighbourhood, in their order."""
        found: dict[frozenset[str], list[Job]] = {}
        for job in jobs:
            queue = self._simulator.works[job.key].queue
            found.setdefault(self._neighbours.get(queue, frozenset()), []).append(job)
        return list(found.values())

    def forecast(self) -> Forecast:
        """All verdicts."""
        verdicts = [self._verdict(job) for job in self._cluster.jobs]
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
            self._title(key)
            for key, work in self._simulator.works.items()
            if work.admission is None and key not in earlier
        ]
        return Forecast(
            self._cluster.name, tuple(verdicts), notes, tuple(sorted(waiting)), self._settled
        )

    def _title(self, key: str) -> str:
        return self._cluster.titles.get(key, key)

    def _verdict(self, job: Job) -> Verdict:
        work = self._simulator.works[job.key]
        admitting = [each for each in self._orders if each.works[job.key].admission is not None]
        refusing = [each for each in self._orders if each.works[job.key].admission is None]
        if not admitting:
            return self._waits(work) if self._fits_alone(job) else self._never(job)
        if refusing:
            return self._tied(job, admitting=admitting[0], refusing=refusing[0].works[job.key])
        like = self._refused_alike(job)
        if like is not None:
            return self._tied(job, admitting=admitting[0], refusing=like)
        return self._admitted(job)

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
                        self._alike.setdefault(_kind(work.job), work)
        return self._alike.get(_kind(job))

    def _admitted(self, job: Job) -> Verdict:
        """The order that is expected says where its pods are, unless it has fewer of them in another one."""
        simulator = min(self._orders, key=lambda each: _pods(each.works[job.key]))
        work, witnesses = simulator.works[job.key], self._witnesses_of(simulator)
        conditions = witnesses.conditions(work)
        return Verdict(
            self._title(work.key),
            work.queue,
            Kind.ONLY_IF if conditions else Kind.FITS,
            _pods(work),
            witnesses.where(work),
            conditions,
            preempts=tuple(self._ended.get(work.key, ())),
        )

    def _fits_alone(self, job: Job) -> bool:
        """Whether a job fits where no other one is: always the same empty cluster, since making one takes time."""
        kind = _kind(job)
        if kind not in self._fitting:
            self._alone.submit(job)
            self._alone.settle()
            self._fitting[kind] = self._alone.works[job.key].admission is not None
            self._alone.end([job.key])
            self._alone.settle()
        return self._fitting[kind]

    def _blockers(self, work: Work) -> Sequence[Work]:
        """For whom a job waits; jobs of one queue that ask for the same wait for the same."""
        simulator = self._where(work)
        kind = id(simulator), _kind(work.job)
        if kind not in self._blocking:
            self._blocking[kind] = blockers(simulator.state, work)
        return self._blocking[kind]

    def _tied(self, job: Job, *, admitting: Simulator, refusing: Work) -> Verdict:
        """A job that fits in one order, and not in another one. ``refusing``: what becomes of it there."""
        rivals = [each for each in self._blockers(refusing) if each.key != job.key]
        names = [self._title(each.key) for each in rivals or self._ahead(refusing)]
        shown = ", ".join(f"`{name}`" for name in sorted(names)) or "others"
        condition = f"it is admitted before {shown}"
        of_nodes = self._witnesses_of(admitting).conditions(admitting.works[job.key])
        work = admitting.works[job.key]
        return Verdict(
            self._title(work.key),
            work.queue,
            Kind.ONLY_IF,
            conditions=(condition, *of_nodes),
            edits=tuple(self._edits(job)),
        )

    def _witnesses_of(self, simulator: Simulator) -> Witnesses:
        """Where the jobs that a simulation admitted would run."""
        if simulator is self._simulator:
            return self._witnesses
        known = self._other_witnesses.get(id(simulator))
        if known is None:
            known = self._other_witnesses[id(simulator)] = Witnesses(self._cluster, simulator)
        return known

    def _waits(self, work: Work) -> Verdict:
        found = self._blockers(work)
        names = sorted(self._title(each.key) for each in found)
        if not names:
            ahead = self._ahead(work)
            names = [self._title(each.key) for each in ahead]
        return Verdict(
            self._title(work.key),
            work.queue,
            Kind.WAITS,
            blockers=tuple(names),
            edits=tuple(self._edits(work.job)),
        )

    def _ahead(self, work: Work) -> Sequence[Work]:
        """The job that waits before it in a strict queue: what is behind it is not looked at."""
        waiting = [
            each
            for each in self._where(work).works.values()
            if each.queue == work.queue and each.admission is None and each is not work
        ]
        return [min(waiting, key=lambda each: each.rank)] if waiting else []

    def _where(self, work: Work) -> Simulator:
        """The simulation that a job is of."""
        return next(each for each in self._orders if each.works.get(work.key) is work)

    def _never(self, job: Job) -> Verdict:
        world = self._cluster.world
        kind = _kind(job)
        if kind not in self._conflicts:
            self._conflicts[kind] = conflict(world, job)
        found = [sentence(world, job, each) for each in self._conflicts[kind]]
        queue = queue_of(world, job)
        return Verdict(
            self._title(job.key),
            queue.name if queue else "",
            Kind.NEVER,
            conflict=tuple(found),
            edits=tuple(self._edits(job, alone=True)),
        )

    def _in_the_way(self, job: Job) -> Sequence[Job]:
        """The jobs of a neighbourhood, in their order, the job itself among them."""
        works = self._simulator.works
        group = self._neighbours.get(works[job.key].queue, frozenset())
        if group not in self._together:
            jobs = self._cluster.all_jobs
            self._together[group] = [each for each in jobs if works[each.key].queue in group]
        return self._together[group]

    def _edits(self, job: Job, *, alone: bool = False) -> list[str]:
        title = self._title(job.key)
        if not alone:
            return [edit.named(title) for edit in self._edits_beside(job)]
        kind = _kind(job)
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


def _kind(job: Job) -> Hashable:
    """What jobs have in common that are treated alike."""
    return job.namespace, job.queue, job.priority, job.created, repr(job.pod_sets)


def _pods(work: Work) -> int:
    """How many pods of an admitted job there are."""
    assert work.admission is not None
    return sum(each.count for each in work.admission.sets)
