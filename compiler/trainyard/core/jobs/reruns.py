"""Jobs that were submitted, and would run a second time."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from trainyard.core.jobs.plan import Gang
from trainyard.core.jobs.spec import JobsSection
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Route


def replaced_jobs(replace: Sequence[str], section: JobsSection) -> set[str]:
    """The names that are meant. A pattern is about jobs of the spec: what a job that left has running is not meant."""
    jobs = [job.name for job in section.jobs]
    names = set(replace)
    for pattern in replace:
        names |= set(fnmatch.filter(jobs, pattern))
    return names


def second_run(
    job: Gang, run: str, rerun: int, at: Route, *, label: str, notes: Sequence[str] = ()
) -> Diagnostic:
    """The error on a job that is submitted as a ``run``, the one of number ``rerun``, and would be submitted again."""
    return error(
        "RES030",
        f"job `{job.source_name}` was submitted as `{run}` and would run a second time",
        at,
        label=label,
        key=at == job.at,
        notes=tuple(notes),
        help=f"add `rerun: {rerun + 1}` to run it again, or undo the change; "
        f"`--replace {job.source_name}` if it was never pushed",
    )
