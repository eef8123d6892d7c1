"""``simulate --timeline``: when the jobs of each cluster start and end, and what stands idle until then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from trainyard.cli.output import as_json
from trainyard.cli.streams import UsageError
from trainyard.extensions.forecast.sections.timeline import paid_of
from trainyard.extensions.forecast.simulation_shown import clusters_of
from trainyard.extensions.forecast.subjects import subject
from trainyard.extensions.forecast.timeline.course import Timeline
from trainyard.extensions.forecast.timeline.outlook import timeline_of
from trainyard.extensions.forecast.timeline.shown import Paid, text, values
from trainyard.run.outcome import Options, Outcome

Found = Sequence[tuple[Timeline, Mapping[str, Paid]]]


def timelines(done: Outcome, options: Options, nodes: Sequence[str], start: str | None) -> Found:
    """The timeline of each cluster with what is paid for its pools; ``start``: when it begins, as a timestamp."""
    origin = None if start is None else _seconds(start)
    found = []
    for compilation, reading, each in clusters_of(done, options, nodes):
        course = timeline_of(each, reading, origin)
        found.append((course, paid_of(subject(compilation, options))))
    return found


def _seconds(start: str) -> int:
    help = "write a time with its zone, like `2026-12-01T11:30:00Z`"
    try:
        moment = datetime.fromisoformat(start)
    except ValueError:
        raise UsageError(f"`--start {start}`: {help}") from None
    if moment.tzinfo is None:
        raise UsageError(f"`--start {start}` has no time zone: {help}")
    return int(moment.timestamp())


def printed(found: Found, format: str) -> str:
    """The timelines in a format: ``text`` or ``json``."""
    if format == "json":
        return as_json(values(found))
    return text(found)
