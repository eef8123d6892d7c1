"""Tasks: what runs on each machine of a job."""

from __future__ import annotations

from trainyard.core.jobs.plan import Gang
from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Gang):
    """A job, as its list of tasks says it."""
