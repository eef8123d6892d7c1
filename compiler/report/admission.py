"""What Kueue will do with jobs that do not all fit at once."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.words import numbered
from compiler.model.reading import Reading
from compiler.report.blocks import Block, Heading, paragraph, table
from compiler.report.subject import Subject
from compiler.simulate.compiled import cluster
from compiler.simulate.shown import helps, why
from compiler.simulate.together import MOST_JOBS, forecast
from compiler.simulate.verdict import Kind


def section(subject: Subject) -> Iterator[Block]:
    """A line for each job that is not certainly admitted if all jobs are submitted at once."""
    reading = Reading(subject.plan, subject.catalog, subject.manifests)
    if not any(work.queued for work in reading.works):
        return
    if len(reading.works) > MOST_JOBS:
        jobs = numbered(len(reading.works), "job")
        yield Heading("Admission")
        yield paragraph(f"`trainyard simulate` says which of {jobs} wait.")
        return
    rows = list(_rows(subject.name, reading))
    if not rows:
        return
    yield Heading("Admission")
    yield paragraph(
        "If all jobs are submitted at once; the others are admitted. `trainyard simulate` says where."
    )
    yield table(("job", "verdict", "because of", "helps"), rows)


def _rows(name: str, reading: Reading) -> Iterator[tuple[str, ...]]:
    for verdict in forecast(cluster(name, reading)).verdicts:
        if verdict.kind in (Kind.ONLY_IF, Kind.WAITS, Kind.NEVER):
            yield f"`{verdict.job}`", str(verdict.kind), why(verdict), helps(verdict)
