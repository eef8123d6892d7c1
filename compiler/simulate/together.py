"""The verdicts on all jobs of a cluster, submitted at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compiler.simulate.blockers import blockers
from compiler.simulate.compiled import Cluster
from compiler.simulate.constraints import conflict, fits_alone, queue_of
from compiler.simulate.edits import edits
from compiler.simulate.explain import sentence
from compiler.simulate.objects import Job
from compiler.simulate.simulator import Simulator, run
from compiler.simulate.state import Work, World
from compiler.simulate.verdict import Forecast, Kind, Verdict
from compiler.simulate.witness import Witnesses

MOST_JOBS = 200
"""Of more jobs, of which many wait, a forecast takes longer than the rest of a report (docs/simulate.md)."""
_EVERY_ORDER = 40
"""Of so many jobs each is simulated as the last one."""
_TRIED = 5_000
"""Changes that help are looked for until so many jobs were simulated: each is tried out on the whole cluster."""


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
        self._alone = Simulator(cluster.world)
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
                "for the last jobs no changes that help were looked for: there are too many",
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
            return self._tied(last.works[job.key], last)
        first = self._where(job, last=False)
        if first.works[job.key].admission is not None:
            return self._tied(work, self._simulator)
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
            preempts=self._preempted(work),
        )

    def _fits_alone(self, job: Job) -> bool:
        """Whether a job fits where no other one is: always the same empty cluster, since making one takes time."""
        self._alone.submit(job)
        self._alone.settle()
        fits = self._alone.works[job.key].admission is not None
        self._alone.end([job.key])
        self._alone.settle()
        return fits

    def _preempted(self, work: Work) -> tuple[str, ...]:
        return tuple(
            self._title(each.key)
            for each in self._simulator.works.values()
            if work.key in each.preempted_by
        )

    def _tied(self, work: Work, without: Simulator) -> Verdict:
        """A job that fits in one order of the same second, and not in the one that is given."""
        rivals = blockers(without.state, work) if work.queue else []
        names = [self._title(each.key) for each in rivals]
        shown = ", ".join(f"`{name}`" for name in sorted(names)) or "jobs of the same priority"
        condition = f"it comes before {shown}: same priority, same second"
        return Verdict(
            self._title(work.key),
            work.queue,
            Kind.ONLY_IF,
            conditions=(condition,),
            edits=tuple(self._edits(work.job)),
        )

    def _waits(self, work: Work) -> Verdict:
        found = blockers(self._simulator.state, work)
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
        waiting.sort(key=lambda each: (-each.job.priority, each.job.created, each.order))
        return waiting[:1]

    def _never(self, job: Job) -> Verdict:
        world = self._cluster.world
        found = [sentence(world, job, each) for each in conflict(world, job)]
        queue = queue_of(world, job)
        return Verdict(
            self._title(job.key),
            queue.name if queue else "",
            Kind.NEVER,
            conflict=tuple(found),
            edits=tuple(self._edits(job, alone=True)),
        )

    def _edits(self, job: Job, *, alone: bool = False) -> list[str]:
        if self._tried > _TRIED:
            return []
        admitted = _admitted(self._simulator)

        def lets_in(world: World, changed: Job) -> bool:
            self._tried += 1 if alone else len(self._cluster.jobs)
            if alone:
                return fits_alone(world, changed)
            others = [each for each in self._cluster.jobs if each.key != job.key]
            now = _admitted(run(world, [*others, changed]))
            return now[job.key] and all(now[key] for key in admitted if admitted[key])

        return edits(self._cluster.world, job, self._title(job.key), self._pools, lets_in)


def _admitted(simulator: Simulator) -> Mapping[str, bool]:
    return {key: work.admission is not None for key, work in simulator.works.items()}
