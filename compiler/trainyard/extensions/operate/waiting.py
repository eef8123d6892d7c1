"""Why a run waits, and how many come before it.

Sources: Kueue 0.19.2, apis/kueue/v1beta2/workload_types.go (conditions and their reasons), apis/visibility/v1beta2,
pkg/workload (GetQueueOrderTimestamp).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import NamedTuple

from trainyard.extensions.operate.api import Api, path_of
from trainyard.extensions.operate.faults import RefusedError
from trainyard.extensions.operate.runs import Run, conditions, is_true, time_of, workloads_in
from trainyard.output.body import value_at
from trainyard.output.manifest import Body

_VISIBILITY = "visibility.kueue.x-k8s.io"
_MEANING: Mapping[str, str] = {
    "NoMatchingFlavor": "no flavor of its queue has nodes with its selector and tolerations",
    "WaitingForQuota": "other jobs hold the quota that it needs",
    "ExceedsMaxQuota": "it asks for more than its queue can ever get: it never starts as it is",
    "TopologyPlacementFailed": "no group of nodes that are near each other has room for it",
    "WaitingForPreemptedWorkloads": "jobs are being ended for it",
    "Misconfigured": "its queue is not there, or not complete",
    "Suspended": "its queue is stopped",
    "PendingEvaluation": "Kueue has not looked at it yet",
    "WaitingForPodsReady": "a job that was admitted before it is still starting",
}
"""What the reasons of the condition QuotaReserved mean."""


class Place(NamedTuple):
    """How far a run is from the head of its queue: 1 is next. ``by``: who says so."""

    number: int
    total: int
    queue: str
    by: str


def words_of_kueue(run: Run) -> str:
    """What Kueue says of a run that waits; empty before it has said anything."""
    evicted = run.verdicts.get("Evicted")
    reserved = run.verdicts.get("QuotaReserved")
    said = []
    if evicted is not None and evicted.get("status") == "True":
        said.append(str(evicted.get("message", "")))
    if reserved is not None and reserved.get("status") != "True":
        said.append(str(reserved.get("message", "")))
    if is_true(run.verdicts, "QuotaReserved"):
        said.append(
            str(value_at(run.verdicts, "Admitted", "message") or "admission checks are not ready")
        )
    return "; ".join(dict.fromkeys(" ".join(each.split()) for each in said if each))


def meaning(run: Run) -> str:
    """The reason of Kueue in our words; empty where it gives none that says more than its message."""
    if run.workload is None:
        return "Kueue has not seen it yet"
    if value_at(run.workload, "spec", "active") is False:
        return (
            "it is deactivated: Kueue looks at it again when `spec.active` of its Workload is true"
        )
    return _MEANING.get(str(value_at(run.verdicts, "QuotaReserved", "reason")), "")


class Places:
    """The order in which the runs of a queue are looked at: by Kueue itself where its visibility API is served and may
    be asked, else as Kueue orders them."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._queues: dict[tuple[str, str], tuple[str, list[str]]] = {}

    def of(self, run: Run) -> Place | None:
        """The place of a run that waits; ``None`` where it is in no queue."""
        if run.workload is None or not run.queue:
            return None
        key = (run.namespace, run.queue)
        if key not in self._queues:
            self._queues[key] = self._order(*key)
        by, names = self._queues[key]
        name = run.workload["metadata"]["name"]
        if name not in names:
            return None
        return Place(names.index(name) + 1, len(names), run.queue, by)

    def _order(self, namespace: str, queue: str) -> tuple[str, list[str]]:
        pending = self._asked(namespace, queue)
        if pending is not None:
            return "visibility", [str(each["metadata"]["name"]) for each in pending]
        waiting = [
            workload
            for workload in workloads_in(self._api, namespace)
            if value_at(workload, "spec", "queueName") == queue and _is_pending(workload)
        ]
        return "order", [str(each["metadata"]["name"]) for each in sorted(waiting, key=_rank)]

    def _asked(self, namespace: str, queue: str) -> Sequence[Body] | None:
        """The pending Workloads of a queue, by Kueue."""
        version = self._api.preferred.get(_VISIBILITY)
        if version is None:
            return None
        path = f"{path_of(version, 'localqueues', namespace)}/{queue}/pendingworkloads"
        try:
            summary = self._api.find(path)
        except RefusedError as fault:
            # Kueue's service may be away, and a team's Role does not have the right.
            if fault.status == HTTPStatus.FORBIDDEN or fault.status >= 500:
                return None
            raise
        if summary is None:
            return None
        return summary.get("items") or []


def _is_pending(workload: Body) -> bool:
    found = conditions(workload)
    active = value_at(workload, "spec", "active") is not False
    return active and not is_true(found, "QuotaReserved", "Finished")


def _rank(workload: Body) -> tuple[int, datetime, str]:
    """Higher priorities first, then who waits longer."""
    priority = int(value_at(workload, "spec", "priority") or 0)
    return -priority, _waits_since(workload), str(workload["metadata"]["name"])


def _waits_since(workload: Body) -> datetime:
    """The time by which Kueue orders: that of the eviction, where pods were not ready in time or a check failed."""
    found = conditions(workload)
    evicted = found.get("Evicted", {})
    is_late = evicted.get("reason") in ("PodsReadyTimeout", "AdmissionCheck")
    if is_late and is_true(found, "Evicted"):
        return time_of(evicted["lastTransitionTime"])
    return time_of(workload["metadata"]["creationTimestamp"])
