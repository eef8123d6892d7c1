"""The verdicts on all jobs, where the Markdown has only those that are not certainly admitted."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.blocks import Block, Heading, Strong, Text, paragraph, table
from trainyard.extensions.forecast.simulate.shown import helps, places, why
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, Verdict


def verdicts(forecast: Forecast) -> Iterator[Block]:
    """A line for each job, and what the simulation assumes."""
    if not forecast.verdicts:
        return
    yield Heading("Admission")
    yield paragraph("If all jobs are submitted at once, as Kueue decides.")
    header = ("job", "queue", "verdict", "nodes", "because of", "helps")
    yield table(header, map(_row, forecast.verdicts))
    if forecast.notes:
        yield paragraph(*(f"Assumed: {note}." for note in forecast.notes))


def _row(verdict: Verdict) -> tuple[Text, ...]:
    kind: Text = str(verdict.kind)
    if verdict.kind is not Kind.FITS:
        kind = Strong(str(verdict.kind))
    return verdict.job, verdict.queue, kind, places(verdict), why(verdict), helps(verdict)
