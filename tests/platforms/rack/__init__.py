"""A platform that the compiler does not have: machines of EC2 that somebody keeps, and a list of tasks for each job.

``tests/test_recipes.py`` puts this folder among the extensions.
"""

from __future__ import annotations

from trainyard.plan.features import Platform

__all__ = ["PLATFORM"]

PLATFORM = Platform(
    "rack",
    (
        "core.network",
        "core.pools",
        "core.storage",
        "core.queues",
        "core.jobs",
        "extensions.rack.settings",
        "extensions.rack.machines",
        "extensions.rack.shares",
        "extensions.rack.tasks",
    ),
    instead={"monitoring": "watch the machines yourself"},
)
