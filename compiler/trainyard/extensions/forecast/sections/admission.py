"""What Kueue will do with jobs that do not all fit at once."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.blocks import Block, Heading, paragraph, table
from trainyard.extensions.forecast.simulate.compiled import cluster
from trainyard.extensions.forecast.simulate.forecasts import MOST_JOBS, forecast
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, helps, why
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.forecast.timeline.outlook import outlook
from trainyard.extensions.forecast.timeline.until import with_starts
from trainyard.language.diagnostics.words import numbered


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job that is not certainly admitted if all jobs are submitted at once."""
    reading = subject.reading
    if not any(work.queued for work in reading.works):
        return
    found = simulated(subject)
    if found is None:
        jobs = numbered(len(reading.works), "job")
        yield Heading("Admission")
        yield paragraph(f"`trainyard simulate` says which of {jobs} wait.")
        return
    rows = list(_rows(found))
    if not rows:
        return
    yield Heading("Admission")
    yield paragraph(
        "If all jobs are submitted at once; the others are admitted. `trainyard simulate` says where."
    )
    yield table(("job", "verdict", "because of", "helps"), rows)


def simulated(subject: Subject) -> Forecast | None:
    """The verdicts on all jobs; ``None`` where there are so many that to simulate them takes longer than the rest."""
    reading = subject.reading
    if len(reading.works) > MOST_JOBS:
        return None
    found = forecast(cluster(subject.name, reading))
    if not found.verdicts_of(Kind.WAITS):
        return found
    return with_starts(found, reading.once(outlook))


def _rows(found: Forecast) -> Iterator[tuple[str, ...]]:
    for verdict in found.verdicts:
        if verdict.kind in (Kind.ONLY_IF, Kind.WAITS, Kind.NEVER):
            yield f"`{verdict.job}`", str(verdict.kind), why(verdict), helps(verdict)
