"""How a job of Kubernetes is started again, in words and in time."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.core.pools.waits import NOT_READY, TOLERATED
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.kueue.plan import QueueManager
from trainyard.extensions.forecast.eks.failures.repairing import Repairing
from trainyard.extensions.forecast.failures.footing import Footing, times
from trainyard.extensions.forecast.failures.parts import Part
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.language.units import Duration
from trainyard.plan.scheduling import Taint

_UNREACHABLE = Taint("node.kubernetes.io/unreachable", "", "NoExecute")


def again(job: Footing) -> str:
    """What is started again, and how often."""
    kind = kinds().get(job.kind)
    whole = kind.restarted if kind is not None else "its pods"
    restarts = "nothing starts it again"
    if job.retries:
        restarts = f"restarts of {whole}, {times(job.retries)}"
    if kind is not None and kind.mends:
        return f"{kind.mends}; else {restarts}"
    return restarts


def then(job: Footing, repair: Repairing) -> str:
    """What is started again once a node is replaced."""
    return f"{again(job)}; {repair.resumes}" if repair.resumes else again(job)


def evicted(job: Footing) -> int | None:
    """The seconds until pods of a node are evicted whose kubelet is silent; ``None`` where they stay for ever."""
    tolerations = job.pod.tolerations if job.pod is not None else ()
    for toleration in tolerations:
        if toleration.tolerates(_UNREACHABLE):
            if toleration.seconds is None:
                return None
            return NOT_READY.seconds + toleration.seconds
    return NOT_READY.seconds + TOLERATED.seconds


def patience(planned: PlannedCluster, job: Footing) -> Duration | None:
    """How long pods of the job may be missing until Kueue puts it back into its queue; ``None`` is for ever."""
    manager = planned.plan.one(QueueManager)
    if manager is None or manager.recovery is None or not job.gang.queue:
        return None
    return manager.recovery if manager.recovery.seconds else None


def admission(planned: PlannedCluster, job: Footing, missing: Sequence[Part]) -> Part:
    """Until Kueue has admitted the job again: at once, unless some pods are missing for too long."""
    if job.gang.queue and planned.plan.one(QueueManager) is None:
        return Part("admission", 0, None, "the configuration of Kueue is not known here")
    recovery = patience(planned, job)
    if recovery is None:
        return Part("admission", 0, 0, "nothing takes its quota away while pods are missing")
    lasts = [part.most for part in missing]
    is_late = None in lasts or sum(most or 0 for most in lasts) > recovery.seconds
    keeps = (
        f"Kueue keeps its quota for it while pods are missing, for {recovery} (`recoveryTimeout`)"
    )
    if not is_late:
        return Part("admission", 0, 0, keeps)
    why = f"{keeps}; then it is back in its queue, and others may be admitted before it: not known"
    return Part("admission", 0, None, why)
