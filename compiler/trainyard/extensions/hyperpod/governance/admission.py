"""How jobs ask task governance to be admitted."""

from __future__ import annotations

from trainyard.eks.jobs.admission import Admission
from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.eks.jobs.wanted import used
from trainyard.extensions.hyperpod.governance.names import local_queue_of, priority_class_of
from trainyard.plan.context import Context

RUNTIMES = "queues"
"""The stage of the runtimes of TrainJobs, in which EKS has the queues too."""


class Governed(Admission):
    """SageMaker makes the LocalQueues and priority classes, of its own names, of the requests. Jobs that come before
    them wait: Kueue holds a job whose queue is not there."""

    def queue(self, name: str) -> str:
        return local_queue_of(name)

    def priority(self, name: str | None) -> str | None:
        return priority_class_of(name) if name is not None else None

    def stage(self, context: Context) -> str:
        return RUNTIMES if has_runtimes(context) else "platform"


def has_runtimes(context: Context) -> bool:
    """Whether the spec has TrainJobs, whose runtimes are there before them."""
    return any(kind.name == TRAIN_JOB for kind in used(context))
