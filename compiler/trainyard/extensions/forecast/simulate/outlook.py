"""The jobs that are not admitted if all are submitted at once, and why, as rules ask for them."""

from __future__ import annotations

from trainyard.extensions.forecast.simulate.blockers import blockers
from trainyard.extensions.forecast.simulate.compiled import cluster
from trainyard.extensions.forecast.simulate.constraints import conflict, fits_alone
from trainyard.extensions.forecast.simulate.explain import sentence
from trainyard.extensions.forecast.simulate.simulator import run
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work
from trainyard.language.dataclass import dataclass

_MOST_JOBS = 200
"""Of more jobs nothing is said: to simulate them may take longer than the rest of a check (docs/simulate.md)."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that is not admitted.

    ``kinds`` and ``reasons``: of one that is admitted nowhere, which constraints exclude it (``constraints.py``), and
    what they are in words. ``behind``: of one that would fit without others, these others; ``outranked``: all of them
    have a higher priority.
    """

    kinds: frozenset[str] = frozenset()
    reasons: tuple[str, ...] = ()
    behind: tuple[Work, ...] = ()
    outranked: bool = False

    @property
    def never(self) -> bool:
        """Whether it is not admitted even where no other job is."""
        return bool(self.kinds)


def outlook(reading: Reading) -> dict[str, Waiting]:
    """The jobs that wait, by namespace and name; none of them where there are too many jobs."""
    if len(reading.works) > _MOST_JOBS:
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
