"""The ways in which jobs may reach Kueue.

What runs already comes first. Flux creates the jobs of a merge one after the other, by kind, namespace and name
(kustomize-controller 1.9.5, pkg/ssa SortableUnstructureds), within about a second. Each becomes a Workload once its own
controller has looked at it, and Kueue may decide in between or after all. It orders jobs of one second by their uids,
which are random. So there is one order to expect, and others that may come instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby
from random import Random

from trainyard.extensions.forecast.simulate.objects import Job
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import World
from trainyard.language.dataclass import dataclass

_EACH_FIRST_AND_LAST = 40
"""Where so many jobs at most are in each other's way, each is also simulated as the first and as the last one."""
_MOST = 400
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
        return self._arrival(self.submitted, self.new)

    def at_once(self) -> Arrival:
        """All new ones before Kueue looks at any, as where their queues were not active before."""
        return self._arrival(self.submitted, self.new, together=True)

    def is_drawn(self, groups: Groups) -> bool:
        """Whether more orders than a few are tried."""
        return len(self._all) <= _MOST and _largest(groups) <= _EACH_FIRST_AND_LAST

    @property
    def _all(self) -> tuple[Job, ...]:
        return (*self.submitted, *self.new)

    def others(self, groups: Groups) -> Iterator[Arrival]:
        """Other ways in which they may come. ``groups``: the jobs that are in each other's way; one order is another
        one of each group at the same time."""
        submitted, new = _reversed(self.submitted), _reversed(self.new)
        yield self._arrival(submitted, new, together=True)
        yield self._arrival(submitted, new)
        if not self.is_drawn(groups):
            return
        for index in range(_largest(groups)):
            moved = {group[index].key for group in groups if index < len(group)}
            for together in (True, False) if _largest(groups) <= _SINGLY_TOO else (True,):
                yield self._moved(moved, last=True, together=together)
                yield self._moved(moved, last=False, together=together)
        yield from self._at_random()

    def _moved(self, moved: Set[str], *, last: bool, together: bool) -> Arrival:
        submitted = _moved(self.submitted, moved, last=last)
        new = _moved(self.new, moved, last=last)
        return self._arrival(submitted, new, together=together)

    def _at_random(self) -> Iterator[Arrival]:
        draw = Random(len(self.new))  # noqa: S311 - the same in every run
        for _ in range(_AT_RANDOM):
            submitted, new = (_shuffled(jobs, draw) for jobs in (self.submitted, self.new))
            ranks = [job.key for job in _shuffled(self._all, draw)]
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


def _moved(jobs: Sequence[Job], moved: Set[str], *, last: bool) -> tuple[Job, ...]:
    """Jobs with some of them at an end."""
    ends = [job for job in jobs if job.key in moved]
    others = [job for job in jobs if job.key not in moved]
    return (*others, *ends) if last else (*ends, *others)


def _largest(groups: Groups) -> int:
    return max(map(len, groups), default=0)


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
