"""The order of a queue where Kueue's own list cannot be asked: who waits, and in which order Kueue looks at them."""

from __future__ import annotations

from typing import Any, cast

from compiler.operate.api import Api
from compiler.operate.runs import Run
from compiler.operate.waiting import Places, meaning
from compiler.platforms.eks.jobs.kinds import kinds

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
    labels = {"kueue.x-k8s.io/queue-name": "research"}
    body = {"metadata": {"name": name, "namespace": "team-a", "labels": labels}}
    found = Places(cast("Api", Served(*workloads))).of(Run(kinds()["Job"], body, own, None))
    return None if found is None else (found.number, found.total, found.by)


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


def test_a_run_that_is_deactivated_says_so() -> None:
    """Whatever the last reason was for which it had no quota."""
    reserved = {"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota"}
    body = {"metadata": {"name": "a", "namespace": "team-a"}}
    for active, words in ((False, "it is deactivated"), (True, "other jobs hold the quota")):
        held = {"spec": {"active": active}, "status": {"conditions": [reserved]}}
        assert meaning(Run(kinds()["Job"], body, held, None)).startswith(words)
