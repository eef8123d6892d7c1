"""The order of a queue where Kueue's own list cannot be asked: who waits, and in which order Kueue looks at them."""

from __future__ import annotations

from typing import Any, cast

import pytest
from trainyard.eks.jobs.kinds import kinds
from trainyard.extensions.operate.api import Api
from trainyard.extensions.operate.faults import RefusedError
from trainyard.extensions.operate.runs import Run
from trainyard.extensions.operate.waiting import Place, Places, meaning, words_of_kueue

Body = dict[str, Any]


class Served:
    """A cluster that serves Workloads, and no list of those that wait."""

    def __init__(self, *workloads: Body) -> None:
        self.preferred = {"kueue.x-k8s.io": "kueue.x-k8s.io/v1beta2"}
        self._workloads = list(workloads)

    def items(self, path: str) -> list[Body]:
        assert path.endswith("/namespaces/team-a/workloads"), path
        return self._workloads


def workload(
    name: str, *, queue: str = "research", true: str = "", minute: int = 0, **spec: Any
) -> Body:
    """A Workload; ``true`` is its one condition that holds."""
    conditions = [{"type": true, "status": "True"}] if true else []
    created = f"2026-11-27T11:{minute:02}:00Z"
    return {
        "metadata": {"name": name, "creationTimestamp": created},
        "spec": {"queueName": queue, **spec},
        "status": {"conditions": conditions},
    }


def place(name: str, *workloads: Body) -> tuple[int, int, str] | None:
    """The number of a run in its queue, the number of those that wait, and who says so."""
    (own,) = (each for each in workloads if each["metadata"]["name"] == name)
    found = Places(cast("Api", Served(*workloads))).of(run_of(own))
    return None if found is None else (found.number, found.total, found.by)


def run_of(workload: Body) -> Run:
    """The Job that a Workload is of."""
    labels = {"kueue.x-k8s.io/queue-name": "research"}
    metadata = {"name": workload["metadata"]["name"], "namespace": "team-a", "labels": labels}
    return Run(kinds()["Job"], {"metadata": metadata}, workload, None)


def test_who_has_quota_has_ended_or_is_deactivated_does_not_wait() -> None:
    others = (
        workload("runs", true="QuotaReserved"),
        workload("ended", true="Finished"),
        workload("off", active=False),
        workload("elsewhere", queue="other"),
        workload("looked-at", true="Requeued"),
    )
    assert place("mine", *others, workload("mine", minute=1)) == (2, 2, "order")
    assert place("runs", *others) is None


def test_a_higher_priority_and_an_earlier_time_come_first() -> None:
    workloads = (
        workload("mine", minute=2),
        workload("earlier", minute=1),
        workload("later", minute=3),
        workload("urgent", minute=4, priority=10),
    )
    assert place("mine", *workloads) == (3, 4, "order")
    assert place("urgent", *workloads) == (1, 4, "order")
    raised = (workload("mine", minute=1), workload("raised", minute=2, priority=1))
    assert place("mine", *raised) == (2, 2, "order")


class Visible(Served):
    """A cluster with Kueue's own list of those that wait, or an answer in its place."""

    def __init__(self, answer: Body | int | None, *workloads: Body) -> None:
        super().__init__(*workloads)
        self.preferred["visibility.kueue.x-k8s.io"] = "visibility.kueue.x-k8s.io/v1beta2"
        self._answer = answer
        self.asked: list[str] = []

    def find(self, path: str) -> Body | None:
        self.asked.append(path)
        if isinstance(self._answer, int):
            raise RefusedError("CLU008", "refused", "", status=self._answer, reason="")
        return self._answer


PENDING = {"items": [{"metadata": {"name": name}} for name in ("first", "second", "mine")]}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (PENDING, Place(3, 3, "research", "visibility")),
        ({"items": None}, None),
        # It is away, or may not be asked: then the order is that of the Workloads.
        (None, Place(1, 1, "research", "order")),
        (403, Place(1, 1, "research", "order")),
        (503, Place(1, 1, "research", "order")),
    ],
)
def test_kueue_itself_says_who_waits_where_it_may_be_asked(
    answer: Body | int | None, expected: Place | None
) -> None:
    own = workload("mine")
    api = Visible(answer, own)
    places = Places(cast("Api", api))
    assert places.of(run_of(own)) == expected
    assert places.of(run_of(own)) == expected
    version = "/apis/visibility.kueue.x-k8s.io/v1beta2"
    assert api.asked == [f"{version}/namespaces/team-a/localqueues/research/pendingworkloads"]


def test_another_refusal_of_kueue_is_reported() -> None:
    with pytest.raises(RefusedError):
        Places(cast("Api", Visible(401))).of(run_of(workload("mine")))


def test_who_was_evicted_late_waits_since_then() -> None:
    """Its pods were not ready in time; one that was preempted keeps its place."""
    late, preempted = workload("late", minute=1), workload("preempted", minute=2)
    for body, reason in ((late, "PodsReadyTimeout"), (preempted, "Preempted")):
        body["status"]["conditions"] = [
            {
                "type": "Evicted",
                "status": "True",
                "reason": reason,
                "lastTransitionTime": "2026-11-27T11:30:00Z",
            }
        ]
    workloads = (late, preempted, workload("mine", minute=3))
    assert place("preempted", *workloads) == (1, 3, "order")
    assert place("mine", *workloads) == (2, 3, "order")
    assert place("late", *workloads) == (3, 3, "order")
    late["status"]["conditions"][0]["status"] = "False"  # it was admitted again meanwhile
    assert place("late", *workloads) == (1, 3, "order")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("The workload has\n  failed checks", "The workload has failed checks"),
        ("", "admission checks are not ready"),
    ],
)
def test_what_has_quota_waits_for_admission_checks(message: str, words: str) -> None:
    own = workload("mine", true="QuotaReserved")
    own["status"]["conditions"].append({"type": "Admitted", "status": "False", "message": message})
    assert words_of_kueue(run_of(own)) == words


def test_a_run_that_is_deactivated_says_so() -> None:
    """Whatever the last reason was for which it had no quota."""
    reserved = {"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota"}
    body = {"metadata": {"name": "a", "namespace": "team-a"}}
    for active, words in ((False, "it is deactivated"), (True, "other jobs hold the quota")):
        held = {"spec": {"active": active}, "status": {"conditions": [reserved]}}
        assert meaning(Run(kinds()["Job"], body, held, None)).startswith(words)
