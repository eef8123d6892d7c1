"""How the jobs of a spec are: each with its run in the cluster, and runs that the spec no longer asks for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from typing import NamedTuple

from trainyard.core.jobs.plan import CheckpointSchedule, SaveWatcher
from trainyard.eks.flux.stages import PREFIX
from trainyard.eks.jobs.plan import TrainJob
from trainyard.extensions.forecast.costs import Item, pool_item
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.operate.api import Api, path_of
from trainyard.extensions.operate.applied import KUSTOMIZATIONS
from trainyard.extensions.operate.faults import RefusedError
from trainyard.extensions.operate.runs import Run, is_true, runs_in, time_of
from trainyard.extensions.operate.waiting import Place, Places, meaning, words_of_kueue
from trainyard.language.dataclass import dataclass
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.run.history import Run as Remembered

# How far a run is: its state, its attempts, and how long it has had its nodes.


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
    said = value_at(run.body, *ends.field) if ends.field else None
    if is_true(run.conditions, *ends.failed) or said in ends.failed:
        return State.FAILED
    if is_true(run.conditions, *ends.done) or said in ends.done:
        return State.DONE
    if not is_true(run.verdicts, "Finished"):
        return None
    if value_at(run.verdicts, "Finished", "reason") == "Succeeded":
        return State.DONE
    return State.FAILED


def nodes_of(run: Run, pods: Sequence[Body]) -> Nodes:
    """The nodes that have a running pod of the run; it wants as many as Kueue admitted, or else as its object says."""
    labels = run.kind.run_pods
    own = [pod for pod in pods if labels.is_node(pod["metadata"].get("labels") or {})]
    running = [pod for pod in own if value_at(pod, "status", "phase") == "Running"]
    return Nodes(len(running), wanted_nodes(run) or len(own))


def wanted_nodes(run: Run) -> int:
    """How many nodes the run asks for, by its Workload; 0 where Kueue has none."""
    admitted = mappings_at(run.workload, "status", "admission", "podSetAssignments")
    asked = mappings_at(run.workload, "spec", "podSets")
    beside = run.kind.run_pods.beside
    parts = [part for part in admitted or asked if part.get("name") not in beside]
    return sum(int(part.get("count", 0)) for part in parts)


def attempts(run: Run, pods: Sequence[Body]) -> int:
    """How often the run was started, this time included; 0 before the first time.

    JobSet counts the restarts of the gang, a Job of one pod and a RayJob their failures (batch/v1; ray.io/v1); where
    single pods are restarted, it is as often as the pod that was restarted most.
    """
    if run.jobset is not None:
        again = int(value_at(run.jobset, "status", "restarts") or 0)
    else:
        again = _most_restarts(run, pods)
    evicted = sum(
        int(each.get("count", 0))
        for each in mappings_at(run.workload, "status", "schedulingStats", "evictions")
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
        for container in mappings_at(pod, "status", "containerStatuses"):
            restarts[who] += int(container.get("restartCount", 0))
        restarts[who] += value_at(pod, "status", "phase") == "Failed"
    most = max(restarts.values(), default=0)
    if value_at(run.body, "spec", "completionMode") == "Indexed":
        return most
    return max(most, int(value_at(run.body, "status", "failed") or 0))


def held_seconds(run: Run, now: datetime) -> float | None:
    """How long the run has held its quota in all its attempts; ``None`` where Kueue does not queue it."""
    if run.workload is None:
        return None
    status = value_at(run.workload, "status")
    past = value_at(status, "accumulatedPastExecutionTimeSeconds")
    if past is None:
        # kueue v0.19.2, the spelling of v1beta1.
        past = value_at(status, "accumulatedPastExexcutionTimeSeconds")
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


# When jobs saved last: what the exporters beside them print.

_LINE = re.compile(r"last write: (\d+)")


def last_save(api: Api, exporter: SaveWatcher) -> int | None:
    """When the job of an exporter saved last, in seconds since 1970, and 0 where it never did; ``None`` where that is
    not known: the exporter does not run, cannot read the folder, or may not be asked."""
    labels = {
        "app.kubernetes.io/name": "checkpoint-exporter",
        "app.kubernetes.io/instance": exporter.job,
    }
    path = path_of("v1", "pods", exporter.namespace)
    last = None
    try:
        for pod in api.items(path, labels):
            name = pod["metadata"]["name"]
            for line in api.lines(f"{path}/{name}/log", {"tailLines": "1"}, endless=False):
                last = line
    except RefusedError:
        return None
    found = _LINE.match(last or "")
    return None if found is None else int(found[1])


# Kustomizations of a cluster that have not applied what is merged: what comes after one of them waits for it.

_WAITS = "DependencyNotReady"


class Hanging(NamedTuple):
    """A Kustomization: its name, the reason and what Flux says. ``waits``: for another one that is not Ready."""

    name: str
    reason: str
    message: str

    @property
    def waits(self) -> bool:
        return self.reason == _WAITS


def hanging(api: Api) -> Iterator[Hanging]:
    """Those that are not Ready, those first that wait for no other one. None where one may not look."""
    try:
        found = api.items(KUSTOMIZATIONS)
    except RefusedError as fault:
        if fault.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
            return
        raise
    late = [each for body in found if (each := _late(body)) is not None]
    yield from sorted(late, key=lambda each: (each.waits, each.name))


def _late(body: Body) -> Hanging | None:
    name = str(value_at(body, "metadata", "name"))
    if name != PREFIX and not name.startswith(f"{PREFIX}-"):
        return None
    for condition in mappings_at(body, "status", "conditions"):
        if condition.get("type") == "Ready" and condition.get("status") != "True":
            reason, said = str(condition.get("reason", "")), str(condition.get("message", ""))
            return Hanging(name, reason, said.partition("\n")[0])
    return None


class Cost(NamedTuple):
    """USD so far, ``None`` where no price is known; ``how`` the nodes are bought, and of which Region the price is,
    where it is not that of the cluster."""

    usd: float | None
    how: str
    of_region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """A job and its run. ``object`` is the name of the run's object, empty where there is none.

    ``kueue`` and ``why`` say why it waits, in Kueue's words and in ours; ``forecast`` what the simulation of the spec
    says of it. ``seconds``: for how long it has been in its state. ``saves``: the seconds between two checkpoints by
    the spec, where it says so. ``saved``: how many seconds ago the last one was written, where an exporter says it.
    ``unsaved``: it says that none was.
    """

    job: str
    kind: str
    namespace: str
    object: str
    state: State
    queue: str
    nodes: Nodes
    place: Place | None = None
    kueue: str = ""
    why: str = ""
    forecast: str = ""
    attempts: int = 0
    seconds: float | None = None
    cost: Cost | None = None
    saves: int | None = None
    saved: float | None = None
    unsaved: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The jobs of a cluster, in the order of the spec; and runs in it that the spec does not ask for, oldest first.
    ``hanging``: Kustomizations that have not applied what is merged."""

    cluster: str
    context: str
    proven: bool
    jobs: tuple[JobStatus, ...]
    others: tuple[JobStatus, ...]
    hanging: tuple[Hanging, ...] = ()


Forecast = Callable[[], Mapping[str, str]]
"""What the simulation says of each job, by the name in the spec; asked only where a job waits."""


def status(
    api: Api, subject: Subject, now: datetime, *, proven: bool, forecast: Forecast
) -> Status:
    """Ask the cluster for the jobs of a spec."""
    late = tuple(hanging(api))
    planned = subject.plan.of(TrainJob)
    found = runs_in(api, namespaces_of(subject), {job.kind for job in planned})
    reader = _Reader(api, subject, now)
    runs = {(run.namespace, run.name, run.kind.name): run for run in found}
    jobs = []
    for job in planned:
        run = runs.pop((job.namespace, job.name, job.kind), None)
        jobs.append(reader.planned(job, run))
    if any(job.state is State.WAITING for job in jobs):
        said = forecast()
        jobs = [_with_forecast(job, said) for job in jobs]
    others = [reader.other(run) for run in runs.values()]
    return Status(
        cluster=subject.name,
        context=api.context.name,
        proven=proven,
        jobs=tuple(jobs),
        others=tuple(others),
        hanging=late,
    )


def namespaces_of(subject: Subject) -> list[str]:
    """The namespaces that jobs of the spec are in, or were."""
    names = [job.namespace for job in subject.plan.of(TrainJob)]
    names += [run.namespace for run in subject.runs]
    return list(dict.fromkeys(names))


def _with_forecast(job: JobStatus, said: Mapping[str, str]) -> JobStatus:
    if job.state is not State.WAITING:
        return job
    return replace(job, forecast=said.get(job.job, ""))


class _Reader:
    """Makes the status of single jobs."""

    def __init__(self, api: Api, subject: Subject, now: datetime) -> None:
        self._api = api
        self._subject = subject
        self._now = now
        self._places = Places(api)
        self._remembered = {run.key: run for run in subject.runs}
        self._saves = _intervals(subject.plan.of(CheckpointSchedule))
        watched = subject.plan.of(SaveWatcher)
        self._exporters = {(each.namespace, each.job): each for each in watched}

    def planned(self, job: TrainJob, run: Run | None) -> JobStatus:
        """A job of the spec."""
        name = job.source_name or job.name
        if run is None:
            return JobStatus(
                job=name,
                kind=job.kind,
                namespace=job.namespace,
                object="",
                state=State.MISSING,
                queue=job.queue or "",
                nodes=Nodes(0, job.nodes or 1),
            )
        saves = self._saves.get((job.namespace, name))
        return self._with_save(self._of_run(run, name, job.pool, job.whole_nodes, saves))

    def _with_save(self, job: JobStatus) -> JobStatus:
        """A job that is not over, with its last checkpoint, where an exporter looks at its folder."""
        exporter = self._exporters.get((job.namespace, job.job))
        if exporter is None or job.state.is_over:
            return job
        last = last_save(self._api, exporter)
        if last is None:
            return job
        if last == 0:
            return replace(job, unsaved=True)
        return replace(job, saved=max(self._now.timestamp() - last, 0))

    def other(self, run: Run) -> JobStatus:
        """A run that the spec does not ask for."""
        remembered: Remembered | None = self._remembered.get((run.namespace, run.name))
        pool = remembered.pool if remembered is not None else ""
        return self._of_run(run, run.job, pool, wanted_nodes(run), None)

    def _of_run(
        self, run: Run, name: str, pool: str, whole_nodes: int, saves: int | None
    ) -> JobStatus:
        pods = []
        if not run.queue or is_true(run.verdicts, "QuotaReserved"):
            pods = run.pods(self._api)
        nodes = nodes_of(run, pods)
        state = state_of(run, nodes)
        waits = state is State.WAITING
        entered = since(run, state)
        return JobStatus(
            job=name,
            kind=run.kind.name,
            namespace=run.namespace,
            object=run.name,
            state=state,
            queue=run.queue,
            nodes=nodes,
            place=self._places.of(run) if waits else None,
            kueue=words_of_kueue(run) if waits else "",
            why=meaning(run) if waits else "",
            attempts=attempts(run, pods),
            seconds=max(self._now.timestamp() - entered.timestamp(), 0),
            cost=self._cost(pool, whole_nodes, held_seconds(run, self._now)),
            saves=saves,
        )

    def _cost(self, name: str, nodes: int, seconds: float | None) -> Cost | None:
        """What the nodes of a run cost as long as it holds them; ``None`` where it has not held any."""
        if not seconds:
            return None
        pool = self._subject.pool(name)
        if pool is None:
            return Cost(None, "its pool is not known")
        item = pool_item(self._subject, pool)
        if item.usd is None:
            return Cost(None, "no price is known")
        return Cost(item.usd * nodes * seconds / 3600, item.how, _region(item, self._subject))


def _region(item: Item, subject: Subject) -> str:
    """The Region that a price is of, where it is another one than the cluster's."""
    if item.is_exact(subject.spec.region):
        return ""
    return item.prices[0].region


def _intervals(schedules: Iterable[CheckpointSchedule]) -> dict[tuple[str, str], int]:
    """The seconds between two checkpoints of each job that the spec says them of."""
    return {(each.namespace, each.name): each.every for each in schedules if each.every is not None}


def summary(jobs: Sequence[JobStatus]) -> str:
    """How many jobs are in each state."""
    counts = dict.fromkeys(State, 0)
    for job in jobs:
        counts[job.state] += 1
    parts = [f"{count} {state}" for state, count in counts.items() if count]
    return ", ".join(parts) or "no jobs"
