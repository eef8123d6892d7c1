"""The state of a run and how often it was started, from what its objects say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from trainyard.eks.jobs.kinds import kinds
from trainyard.extensions.operate.runs import Run
from trainyard.extensions.operate.status import (
    Nodes,
    State,
    attempts,
    held_seconds,
    nodes_of,
    state_of,
)

Body = dict[str, Any]
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
INDEX = "batch.kubernetes.io/job-completion-index"
QUEUE = {"kueue.x-k8s.io/queue-name": "research"}
NODES = Nodes(0, 2)


def condition(name: str, **more: str) -> Body:
    return {"type": name, "status": "True", "lastTransitionTime": "2026-11-27T11:00:00Z", **more}


def run_of(workload: Body | None = None, **body: Any) -> Run:
    """A Job that Kueue queues; ``body`` are keys of its object beside its metadata."""
    metadata = {"name": "a", "namespace": "b", "labels": QUEUE}
    return Run(kinds()["Job"], {"metadata": metadata, **body}, workload, None)


def workload_with(*conditions: Body, **status: Any) -> Body:
    return {"status": {"conditions": list(conditions), **status}}


def pod(index: int, *, restarts: int = 0, phase: str = "Running") -> Body:
    """A pod of a Job, by its index."""
    return {
        "metadata": {"labels": {INDEX: str(index)}},
        "status": {"phase": phase, "containerStatuses": [{"restartCount": restarts}]},
    }


@pytest.mark.parametrize(
    ("workload", "pods", "nodes"),
    [
        (None, [pod(0), pod(1, phase="Pending")], Nodes(1, 2)),
        ({"spec": {"podSets": [{"name": "main", "count": 4}]}}, [pod(0), pod(1)], Nodes(2, 4)),
    ],
)
def test_the_nodes_of_a_run(workload: Body | None, pods: list[Body], nodes: Nodes) -> None:
    """Those with a running pod of its own, and as many as Kueue counts, or else as there are pods."""
    assert nodes_of(run_of(workload), pods) == nodes


@pytest.mark.parametrize(("reason", "state"), [("Succeeded", State.DONE), ("Failed", State.FAILED)])
def test_kueue_says_how_it_ended_where_the_object_does_not(reason: str, state: State) -> None:
    run = run_of(workload=workload_with(condition("Finished", reason=reason)))
    assert state_of(run, NODES) is state


@pytest.mark.parametrize(
    ("spec", "failed", "pods", "expected"),
    [
        ({"completionMode": "Indexed"}, 9, [pod(0, restarts=2), pod(1, restarts=3)], 4),
        (
            {"completionMode": "Indexed"},
            9,
            [pod(0, phase="Failed"), pod(0, phase="Failed"), pod(0, restarts=1), pod(1)],
            4,
        ),
        ({}, 2, [pod(0)], 3),
        ({}, 0, [pod(0, restarts=1)], 2),
        ({}, None, [], 1),
    ],
)
def test_a_job_was_started_as_often_as_its_pod_that_was_restarted_most(
    spec: Body, failed: int | None, pods: list[Body], expected: int
) -> None:
    run = run_of(
        spec=spec, status={"failed": failed}, workload=workload_with(condition("Admitted"))
    )
    assert attempts(run, pods) == expected


def test_evictions_are_attempts() -> None:
    evictions = {
        "evictions": [
            {"reason": "Preempted", "count": 2},
            {"reason": "PodsReadyTimeout", "count": 1},
        ]
    }
    waiting = run_of(workload=workload_with(schedulingStats=evictions))
    assert attempts(waiting, []) == 3
    again = run_of(workload=workload_with(condition("Admitted"), schedulingStats=evictions))
    assert attempts(again, []) == 4


@pytest.mark.parametrize(
    "key", ["accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds"]
)
def test_what_it_held_before_counts_in_both_spellings_of_kueue(key: str) -> None:
    waiting = run_of(workload=workload_with(**{key: 60}))
    assert held_seconds(waiting, NOW) == 60
    admitted = run_of(workload=workload_with(condition("Admitted"), **{key: 60}))
    assert held_seconds(admitted, NOW) == 3660
    assert held_seconds(run_of(), NOW) is None
