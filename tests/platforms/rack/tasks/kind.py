"""What runs a job."""

from __future__ import annotations

from trainyard.core.jobs.job import Job, Kind


class TaskList(Kind):
    """A list of tasks, one for each machine."""

    name = "Task"

    def host(self, job: Job, name: str) -> str:
        return "$FIRST_MACHINE"


TASK = TaskList()
