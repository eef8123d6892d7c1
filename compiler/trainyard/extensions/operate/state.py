"""How far a run is: its state, its attempts, and how long it has had its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from trainyard.extensions.operate.runs import Run, is_true, time_of
from trainyard.output.body import at, items
from trainyard.output.manifest import Body


class State(StrEnum):
    """How far a run is."""

    MISSING = "not applied"
    WAITING = "waiting"
    ADMITTED = "admitted"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self in (State.FAILED, State.DONE)


class Nodes(NamedTuple):
    """How many nodes run, of how many that the run asks for."""

    running: int
    wanted: int


def state_of(run: Run, nodes: Nodes) -> State:
    """By Kueue's Workload, and by the run's own conditions where it has none."""
    ended = _ended(run)
    if ended is not None:
        return ended
    if run.queue and not is_true(run.verdicts, "Admitted"):
        return State.WAITING
    if nodes.running >= nodes.wanted:
        return State.RUNNING
    return State.ADMITTED


def _ended(run: Run) -> State | None:
    ends = run.kind.ends
    said = at(run.body, *ends.field) if ends.field else None
    if is_true(run.conditions, *ends.failed) or said in ends.failed:
        return State.FAILED
    if is_true(run.conditions, *ends.done) or said in ends.done:
        return State.DONE
    if not is_true(run.verdicts, "Finished"):
        return None
    if at(run.verdicts, "Finished", "reason") == "Succeeded":
        return State.DONE
    return State.FAILED


def nodes_of(run: Run, pods: Sequence[Body]) -> Nodes:
    """The nodes that have a running pod of the run; it wants as many as Kueue admitted, or else as its object says."""
    labels = run.kind.run_pods
    own = [pod for pod in pods if labels.is_node(pod["metadata"].get("labels") or {})]
    running = [pod for pod in own if at(pod, "status", "phase") == "Running"]
    return Nodes(len(running), wanted_nodes(run) or len(own))


def wanted_nodes(run: Run) -> int:
    """How many nodes the run asks for, by its Workload; 0 where Kueue has none."""
    admitted = items(run.workload, "status", "admission", "podSetAssignments")
    asked = items(run.workload, "spec", "podSets")
    beside = run.kind.run_pods.beside
    parts = [part for part in admitted or asked if part.get("name") not in beside]
    return sum(int(part.get("count", 0)) for part in parts)


def attempts(run: Run, pods: Sequence[Body]) -> int:
    """How often the run was started, this time included; 0 before the first time.

    JobSet counts the restarts of the gang, a Job of one pod and a RayJob their failures (batch/v1; ray.io/v1); where
    single pods are restarted, it is as often as the pod that was restarted most.
    """
    if run.jobset is not None:
        again = int(at(run.jobset, "status", "restarts") or 0)
    else:
        again = _most_restarts(run, pods)
    evicted = sum(
        int(each.get("count", 0))
        for each in items(run.workload, "status", "schedulingStats", "evictions")
    )
    has_started = is_true(run.verdicts, "Admitted") or again or not run.queue or _ended(run)
    if not has_started:
        return evicted
    return 1 + again + evicted


def _most_restarts(run: Run, pods: Sequence[Body]) -> int:
    restarts: Counter[str] = Counter()
    labels = run.kind.run_pods
    for pod in pods:
        own = pod["metadata"].get("labels") or {}
        who = f"{labels.part(own)} {own.get(labels.number)}"
        for container in items(pod, "status", "containerStatuses"):
            restarts[who] += int(container.get("restartCount", 0))
        restarts[who] += at(pod, "status", "phase") == "Failed"
    most = max(restarts.values(), default=0)
    if at(run.body, "spec", "completionMode") == "Indexed":
        return most
    return max(most, int(at(run.body, "status", "failed") or 0))


def held_seconds(run: Run, now: datetime) -> float | None:
    """How long the run has held its quota in all its attempts; ``None`` where Kueue does not queue it."""
    if run.workload is None:
        return None
    status = at(run.workload, "status")
    past = at(status, "accumulatedPastExecutionTimeSeconds")
    if past is None:
        # kueue v0.19.2, the spelling of v1beta1.
        past = at(status, "accumulatedPastExexcutionTimeSeconds")
    seconds = float(past or 0)
    if is_true(run.verdicts, "Admitted"):
        since = time_of(run.verdicts["Admitted"]["lastTransitionTime"])
        seconds += max((ended_at(run) or now).timestamp() - since.timestamp(), 0)
    return seconds


def ended_at(run: Run) -> datetime | None:
    """When the run ended."""
    ends = run.kind.ends
    for found, names in (
        (run.conditions, (*ends.done, *ends.failed)),
        (run.verdicts, ("Finished",)),
    ):
        for name in names:
            if is_true(found, name):
                return time_of(found[name]["lastTransitionTime"])
    return None


def since(run: Run, state: State) -> datetime:
    """When the run came into its state."""
    ended = ended_at(run)
    if state.is_over and ended is not None:
        return ended
    if state is State.WAITING:
        evicted = run.verdicts.get("Evicted")
        if evicted is not None and evicted.get("status") == "True":
            return time_of(evicted["lastTransitionTime"])
        return run.created
    key = "PodsReady" if state is State.RUNNING else "Admitted"
    if is_true(run.verdicts, key):
        return time_of(run.verdicts[key]["lastTransitionTime"])
    return run.created
