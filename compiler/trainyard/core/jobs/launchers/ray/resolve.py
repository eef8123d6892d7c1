"""Ray: the command runs once, as the driver, and asks Ray for ranks on the nodes. Jobs of ``kind: RayJob`` alone.

It is no key of ``launcher``: a RayJob has no other one, and no other kind has it.
"""

from __future__ import annotations

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import Launcher
from trainyard.plan.context import Context


class RayDriver(Launcher):
    """The driver, on the head; the program itself asks for ranks."""

    framework = "ray"

    def check(self, context: Context, job: Job) -> None:
        self.check_ignored(context, job, "torchVersion", "maxRestarts", "processesPerNode")

    def processes(self, context: Context, job: Job, derived: int, why: str, source: str) -> int:
        """As many as devices: so many ranks of Ray Train with a GPU each fit on a node."""
        return derived

    def declared(self, processes: int) -> int | None:
        """The program says it."""
        return None


LAUNCHER = RayDriver()
