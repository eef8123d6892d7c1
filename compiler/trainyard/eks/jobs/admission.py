"""How jobs ask to be admitted: by which names, and after which stage."""

from __future__ import annotations

from trainyard.plan.context import Context


class Admission:
    """Kueue with the queues and priorities of the spec, by their names there. A platform that stands on EKS may have
    another one (``Platform.answers``, ``admission``)."""

    def queue(self, name: str) -> str:
        """The LocalQueue of a queue, in each of its namespaces."""
        return name

    def priority(self, name: str | None) -> str | None:
        """The WorkloadPriorityClass of a priority; ``None`` of none."""
        return name

    def stage(self, context: Context) -> str:
        """The stage that jobs come after."""
        return "queues"
