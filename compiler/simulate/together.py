"""The verdicts on all jobs of a cluster, submitted at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from compiler.simulate.blockers import blockers
from compiler.simulate.compiled import Cluster
from compiler.simulate.constraints import Constraint, conflict, queue_of
from compiler.simulate.edits import Edit, edits
from compiler.simulate.explain import sentence
from compiler.simulate.neighbours import neighbourhoods
from compiler.simulate.objects import Job
from compiler.simulate.simulator import Simulator, run
from compiler.simulate.state import Work, World
from compiler.simulate.verdict import Forecast, Kind, Verdict
from compiler.simulate.witness import Witnesses

MOST_JOBS = 200
"""Of more jobs, of which many wait, a forecast takes longer than the rest of a report (docs/simulate.md)."""
_EVERY_ORDER = 40
"""Of so many jobs each is simulated as the last one."""
_TRIED = 3_000
"""Changes that help are looked for until so many jobs were simulated: each is tried out with all jobs that share
quotas or nodes."""
_MOST_RIVALS = 500
"""Of a job that shares them with more, no changes are looked for."""


def forecast(cluster: Cluster) -> Forecast:
    """What becomes of every job if all are submitted in the same second.

    Kueue orders jobs of one second by their uids, which are random. So each job is also simulated as the last of all,
    and if it does not fit then, as the first: one that fits then alone fits only if it comes first. Of many jobs only
    two orders are tried, one the reverse of the other.
    """
    return _Together(cluster).forecast()


class _Together:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._simulator = run(cluster.world, cluster.jobs)
        self._settled = self._simulator.settled
        self._reverse: Simulator | None = None
        self._witnesses = Witnesses(cluster, self._simulator)
        self._reversed_witnesses: Witnesses | None = None
        self._alone = Simulator(cluster.world)
        self._fitting: dict[Hashable, bool] = {}
        self._conflicts: dict[Hashable, Sequence[Constraint]] = {}
        self._edits_alone: dict[Hashable, Sequence[Edit]] = {}
        self._blocking: dict[Hashable, tuple[Simulator, Sequence[Work]]] = {}
        self._ended: dict[str, list[str]] = {}
        for work in self._simulator.works.values():
            for key in set(work.preempted_by):
                self._ended.setdefault(key, []).append(self._title(work.key))
        self._neighbours = neighbourhoods(self._simulator.state)
        self._together: dict[frozenset[str], Sequence[Job]] = {}
        self._tried = 0
        self._pools = {
            node.name: pool.title for pool in cluster.pools if pool.bounded for node in pool.nodes
        }

    def _where(self, job: Job, *, last: bool) -> Simulator:
        """A simulation with a job as the last one, or the first."""
        jobs = self._cluster.jobs
        if len(jobs) > _EVERY_ORDER:
            if self._reverse is None:
                self._reverse = run(self._cluster.world, reversed(jobs))
            return self._reverse
        others = [each for each in jobs if each is not job]
        found = run(self._cluster.world, [*others, job] if last else [job, *others])
        self._settled = self._settled and found.settled
        return found

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
        if len(self._cluster.jobs) > _EVERY_ORDER:
            notes = (*notes, "of the orders of jobs of equal priority two were tried")
        waiting = [
            self._title(key)
            for key, work in self._simulator.works.items()
            if work.admission is None
        ]
        return Forecast(
            self._cluster.name, tuple(verdicts), notes, tuple(sorted(waiting)), self._settled
        )

    def _title(self, key: str) -> str:
        return self._cluster.titles.get(key, key)

    def _verdict(self, job: Job) -> Verdict:
        work = self._simulator.works[job.key]
        last = self._where(job, last=True)
        if work.admission is not None and last.works[job.key].admission is not None:
            return self._admitted(work)
        if not self._fits_alone(job):
            return self._never(job)
        if work.admission is not None:
            return self._tied(job, admitting=self._simulator, refusing=last)
        first = self._where(job, last=False)
        if first.works[job.key].admission is not None:
            return self._tied(job, admitting=first, refusing=self._simulator)
        return self._waits(work)

    def _admitted(self, work: Work) -> Verdict:
        conditions = self._witnesses.conditions(work)
        assert work.admission is not None
        return Verdict(
            self._title(work.key),
            work.queue,
            Kind.ONLY_IF if conditions else Kind.FITS,
            sum(each.count for each in work.admission.sets),
            self._witnesses.where(work),
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

    def _blockers(self, simulator: Simulator, work: Work) -> Sequence[Work]:
        """For whom a job waits; jobs of one queue that ask for the same wait for the same."""
        kind = id(simulator), _kind(work.job)
        if kind not in self._blocking:
            # With the simulation itself, so that no other one gets its identity.
            self._blocking[kind] = simulator, blockers(simulator.state, work)
        return self._blocking[kind][1]

    def _tied(self, job: Job, *, admitting: Simulator, refusing: Simulator) -> Verdict:
        """A job that fits in one order of the same second, and not in another one."""
        work = refusing.works[job.key]
        rivals = self._blockers(refusing, work)
        names = [self._title(each.key) for each in rivals]
        shown = ", ".join(f"`{name}`" for name in sorted(names)) or "jobs of the same priority"
        condition = f"it comes before {shown}: same priority, same second"
        of_nodes = self._witnesses_of(admitting).conditions(admitting.works[job.key])
        return Verdict(
            self._title(work.key),
            work.queue,
            Kind.ONLY_IF,
            conditions=(condition, *of_nodes),
            edits=tuple(self._edits(job)),
        )

    def _witnesses_of(self, simulator: Simulator) -> Witnesses:
        """Where the jobs that a simulation admitted would run. Of many jobs two are asked about, again and again."""
        if simulator is self._simulator:
            return self._witnesses
        if simulator is not self._reverse:
            return Witnesses(self._cluster, simulator)
        if self._reversed_witnesses is None:
            self._reversed_witnesses = Witnesses(self._cluster, simulator)
        return self._reversed_witnesses

    def _waits(self, work: Work) -> Verdict:
        found = self._blockers(self._simulator, work)
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
            for each in self._simulator.works.values()
            if each.queue == work.queue and each.admission is None and each is not work
        ]
        return [min(waiting, key=lambda each: each.rank)] if waiting else []

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
            jobs = self._cluster.jobs
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
