"""Until when jobs wait, where that is known."""

from __future__ import annotations

from dataclasses import replace

from compiler.model.lengths import Length, lengths
from compiler.model.reading import Reading
from compiler.simulate.compiled import Cluster
from compiler.simulate.verdict import Forecast, Kind, Verdict
from compiler.timeline.engine import timeline
from compiler.timeline.outlook import MOST_JOBS
from compiler.timeline.shown import span
from compiler.timeline.windows import windows

_NOTE = (
    "until when a job waits is counted from when all are submitted, by what `expected`, the estimate or the timeout of"
    " others says: `--timeline` shows it"
)


def with_starts(found: Forecast, cluster: Cluster, reading: Reading) -> Forecast:
    """A forecast whose waiting jobs say when they start. Of many jobs, and where no length is known, it stays as it
    is."""
    if not found.of(Kind.WAITS) or len(cluster.jobs) > MOST_JOBS:
        return found
    known = lengths(reading)
    if not any(map(_is_known, known.values())):
        return found
    courses = timeline(cluster, known, windows(reading.plan)).courses
    starts = {course.job: course.start for course in courses if course.start}
    verdicts = tuple(_with_start(each, starts) for each in found.verdicts)
    if verdicts == found.verdicts:
        return found
    return replace(found, verdicts=verdicts, notes=(*found.notes, _NOTE))


def _is_known(length: Length) -> bool:
    return length.seconds is not None


def _with_start(verdict: Verdict, starts: dict[str, int]) -> Verdict:
    if verdict.kind is not Kind.WAITS or verdict.job not in starts:
        return verdict
    return replace(verdict, until=span(starts[verdict.job]))
