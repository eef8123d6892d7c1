"""Queues, quotas, flavors, topologies and priorities.

Sources: Kueue 0.19.2, CRDs of ``kueue.x-k8s.io`` (quotas, ``stopPolicy``) and the finalizer ``resource-in-use``;
Kubernetes 1.35, pod priority and preemption (pods that exist keep the value that they were made with).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.body import value_at
from trainyard.output.fields import Steps

_KUEUE = "Kueue 0.19.2, CRDs of kueue.x-k8s.io"
_KUBERNETES = "Kubernetes 1.35, pod priority and preemption"
_QUOTAS = frozenset({"nominalQuota", "borrowingLimit", "lendingLimit"})
_DRAINS = "HoldAndDrain"


def _queue(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.MOVES_JOBS, "jobs may wait and be admitted in it", _KUEUE)
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.MOVES_JOBS,
            "no further job is admitted through it; Kueue keeps what a workload still uses",
            _KUEUE,
        )
    if steps[:1] != ("spec",):
        return None
    if "stopPolicy" in steps and value_at(edit.new, "spec", "stopPolicy") == _DRAINS:
        return Effect(Consequence.ENDS_JOBS, "Kueue evicts the jobs that it had admitted", _KUEUE)
    if not _QUOTAS.isdisjoint(steps):
        return Effect(Consequence.COST, "the quota is another", _KUEUE)
    return Effect(Consequence.MOVES_JOBS, "Kueue decides by it whom it admits, and where", _KUEUE)


def _priority(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(Consequence.MOVES_JOBS, "jobs and pods that come are ordered by it", _KUBERNETES)


def _quota(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.CHANGED and steps[:1] == ("metadata",):
        return None
    return Effect(
        Consequence.COST,
        "it bounds what pods that are created may ask for",
        "Kubernetes 1.35, resource quotas and limit ranges",
    )


_OF_KUEUE = ("ClusterQueue", "LocalQueue", "Cohort", "ResourceFlavor", "Topology", "AdmissionCheck")
KINDS: Mapping[str, Judge] = {
    **{f"{kind}.kueue.x-k8s.io": _queue for kind in _OF_KUEUE},
    "WorkloadPriorityClass.kueue.x-k8s.io": _priority,
    "PriorityClass.scheduling.k8s.io": _priority,
    "ResourceQuota": _quota,
    "LimitRange": _quota,
}
