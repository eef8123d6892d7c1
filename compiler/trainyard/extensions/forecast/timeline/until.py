"""Until when jobs wait, where that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict
from trainyard.extensions.forecast.timeline.course import Timeline
from trainyard.extensions.forecast.timeline.shown import span

_NOTE = (
    "until when a job waits is counted from when all are submitted, by what `expected`, the estimate or the timeout of"
    " others says: `--timeline` shows it"
)


def with_starts(found: Forecast, course: Timeline | None) -> Forecast:
    """A forecast whose waiting jobs say when they start, as far as a timeline knows it."""
    if course is None:
        return found
    starts = {each.job: each.start for each in course.courses if each.start}
    verdicts = tuple(_with_start(each, starts) for each in found.verdicts)
    if verdicts == found.verdicts:
        return found
    return replace(found, verdicts=verdicts, notes=(*found.notes, _NOTE))


def _with_start(verdict: Verdict, starts: Mapping[str, int]) -> Verdict:
    if verdict.kind is not Kind.WAITS or verdict.job not in starts:
        return verdict
    return replace(verdict, until=span(starts[verdict.job]))
