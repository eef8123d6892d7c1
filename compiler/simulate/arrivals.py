"""The ways in which jobs may reach Kueue.

What runs already comes first. Flux creates the jobs of a merge one after the other, by kind, namespace and name
(kustomize-controller 1.9.5, pkg/ssa SortableUnstructureds), within about a second. Each becomes a Workload once its own
controller has looked at it, and Kueue may decide in between or after all. It orders jobs of one second by their uids,
which are random. So there is one order to expect, and others that may come instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from random import Random

from compiler.dataclass import dataclass
from compiler.simulate.objects import Job
from compiler.simulate.simulator import Simulator
from compiler.simulate.state import World

_EACH_FIRST_AND_LAST = 40
"""Of so many jobs each is also simulated as the first and as the last one."""
_SINGLY_TOO = 12
"""Of so few jobs that is done one after the other as well as all at once."""
_AT_RANDOM = 24
"""Of so few jobs that each can be first and last, so many orders are drawn besides."""


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
        return self._arrival(self.submitted, self.new)

    def at_once(self) -> Arrival:
        """All new ones before Kueue looks at any, as where their queues were not active before."""
        return self._arrival(self.submitted, self.new, together=True)

    @property
    def is_drawn(self) -> bool:
        """Whether more orders than a few are tried."""
        return len(self.submitted) + len(self.new) <= _EACH_FIRST_AND_LAST

    def others(self) -> Iterator[Arrival]:
        """Other ways in which they may come."""
        submitted, new = _reversed(self.submitted), _reversed(self.new)
        yield self._arrival(submitted, new, together=True)
        yield self._arrival(submitted, new)
        if not self.is_drawn:
            return
        for job in (*self.submitted, *self.new):
            for together in (True, False) if len(self.new) <= _SINGLY_TOO else (True,):
                yield self._moved(job, last=True, together=together)
                yield self._moved(job, last=False, together=together)
        yield from self._at_random()

    def _moved(self, job: Job, *, last: bool, together: bool) -> Arrival:
        submitted, new = _moved(self.submitted, job, last=last), _moved(self.new, job, last=last)
        return self._arrival(submitted, new, together=together)

    def _at_random(self) -> Iterator[Arrival]:
        draw = Random(len(self.new))  # noqa: S311 - the same in every run
        for _ in range(_AT_RANDOM):
            submitted, new = (_shuffled(jobs, draw) for jobs in (self.submitted, self.new))
            ranks = [job.key for job in _shuffled((*submitted, *new), draw)]
            batches = [self.earlier, *_singly(submitted), *_cut(new, draw)]
            yield Arrival(tuple(filter(None, batches)), tuple(ranks))

    def _arrival(
        self, submitted: Sequence[Job], new: Sequence[Job], *, together: bool = False
    ) -> Arrival:
        batches = [self.earlier, *_singly(submitted)]
        batches += _by_second(new) if together else _singly(new)
        return Arrival(tuple(filter(None, batches)))


def _by_second(jobs: Iterable[Job]) -> list[tuple[Job, ...]]:
    """Jobs by the second in which they were created, in the order in which they stand."""
    ordered = sorted(jobs, key=lambda job: job.created)
    return [tuple(group) for _, group in groupby(ordered, key=lambda job: job.created)]


def _singly(jobs: Iterable[Job]) -> list[tuple[Job, ...]]:
    return [(job,) for group in _by_second(jobs) for job in group]


def _reversed(jobs: Sequence[Job]) -> tuple[Job, ...]:
    return tuple(reversed(jobs))


def _moved(jobs: Sequence[Job], job: Job, *, last: bool) -> tuple[Job, ...]:
    """Jobs with one of them at an end."""
    if job not in jobs:
        return tuple(jobs)
    others = [each for each in jobs if each is not job]
    return (*others, job) if last else (job, *others)


def _shuffled(jobs: Sequence[Job], draw: Random) -> tuple[Job, ...]:
    return tuple(draw.sample(list(jobs), len(jobs)))


def _cut(jobs: Sequence[Job], draw: Random) -> list[tuple[Job, ...]]:
    """Batches of any size."""
    batches: list[tuple[Job, ...]] = []
    for group in _by_second(jobs):
        left = list(group)
        while left:
            size = draw.randint(1, len(left))
            batches.append(tuple(left[:size]))
            left = left[size:]
    return batches
