"""What a spec compiles to, as a simulation reads it: queues from the manifests, nodes from the pools, and the jobs.

Jobs are those of the spec, and runs that go on although it no longer asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil

from trainyard.core.pods.plan import Pod, Resources
from trainyard.eks.jobs.kinds import kinds
from trainyard.eks.jobs.lifting import QUEUE
from trainyard.eks.jobs.plan import POD_PRIORITY, StandingRun
from trainyard.eks.kueue.plan import Flavor, QueueManager
from trainyard.extensions.forecast.simulate.objects import Amounts, Job, Placement, PodSet
from trainyard.extensions.forecast.simulate.reading import (
    Assumed,
    PoolNodes,
    empty_flavors,
    pool_nodes,
    read_world,
)
from trainyard.extensions.forecast.simulate.state import World
from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.pod_set import PodSet as PlannedPodSet
from trainyard.judge.model.reading import Reading
from trainyard.judge.model.work import Work as PlannedWork
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import with_article
from trainyard.output.body import value_at

_TOPOLOGY = "kueue.x-k8s.io/podset-"
_MODES = {"required-topology": "required", "preferred-topology": "preferred"}
_KUEUE = "kueue.x-k8s.io/v1beta2"
_GROUP = "kueue.x-k8s.io/podset-group-name"
_SLICES = "kueue.x-k8s.io/podset-slice-"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster to simulate.

    ``jobs`` are those of the spec, in the order in which Flux creates them; ``earlier`` are runs that go on although
    the spec does not ask for them, and ``submitted`` the keys of jobs that are there already. ``titles``: what people
    call each job, by its key. ``left_out``: jobs that Kueue does not queue, or that cannot be read, with the reason.
    ``assumed_levels``: levels of topologies whose domains exist only once the nodes do.
    """

    name: str
    world: World
    jobs: tuple[Job, ...]
    titles: Mapping[str, str]
    left_out: tuple[tuple[str, str], ...]
    pools: tuple[PoolNodes, ...]
    notes: tuple[str, ...]
    assumed_levels: frozenset[str]
    earlier: tuple[Job, ...] = ()
    submitted: frozenset[str] = frozenset()

    @property
    def submitted_jobs(self) -> tuple[Job, ...]:
        """The jobs of the spec that are there already."""
        return tuple(job for job in self.jobs if job.key in self.submitted)

    @property
    def new_jobs(self) -> tuple[Job, ...]:
        """The jobs of the spec that are not there yet, in the order in which Flux creates them."""
        return tuple(job for job in self.jobs if job.key not in self.submitted)

    @property
    def all_jobs(self) -> tuple[Job, ...]:
        """With the runs that go on: what runs already comes first."""
        return (*self.earlier, *self.submitted_jobs, *self.new_jobs)


def cluster(name: str, reading: Reading, counts: Mapping[str, int] | None = None) -> Cluster:
    """A compiled spec as a simulation reads it; ``counts``: pools with another number of nodes than the spec says."""
    assumed = Assumed()
    manager = reading.plan.one(QueueManager)
    prefixes = manager.excluded_prefixes if manager else ()
    priorities = _priorities_by_class(reading)
    queued = [work for work in _in_creation_order(reading) if not _why_left_out(work, reading)]
    jobs = tuple(_planned_job(work, priorities, prefixes, assumed) for work in queued)
    earlier = tuple(earlier_runs(reading, priorities, prefixes))
    asked = sum(each.count for job in (*jobs, *earlier) for each in job.pod_sets)
    pools = pool_nodes(reading, counts or {}, asked, assumed)
    _assume_of_cluster(manager, assumed)
    titles = {job.key: _title_of(work) for job, work in zip(jobs, queued, strict=True)}
    return Cluster(
        name,
        _world_of(reading, manager, pools),
        jobs,
        titles | {job.key: f"{job.name} (an earlier run)" for job in earlier},
        tuple(_left_out(reading)),
        tuple(pools),
        tuple(assumed.notes),
        frozenset(assumed.levels),
        earlier,
        _submitted(reading, queued, jobs),
    )


def _in_creation_order(reading: Reading) -> Sequence[PlannedWork]:
    return sorted(reading.works, key=_creation_order)


def _left_out(reading: Reading) -> Iterator[tuple[str, str]]:
    """What is not simulated, and why."""
    for work in _in_creation_order(reading):
        refused = _why_left_out(work, reading)
        if refused:
            yield _title_of(work), refused
    for pods in reading.pods:
        if pods.queue_name:
            yield pods.name, f"pods of {with_article(pods.kind)} are not simulated"
    yield from _included_objects(reading)


def _submitted(
    reading: Reading, queued: Sequence[PlannedWork], jobs: Sequence[Job]
) -> frozenset[str]:
    """The keys of jobs that are in the cluster already."""
    known = {(work.namespace, work.job.name): job for work, job in zip(queued, jobs, strict=True)}
    standing = [(run.namespace, run.name) for run in reading.plan.of(StandingRun)]
    return frozenset(known[name].key for name in standing if name in known)


def _assume_of_cluster(manager: QueueManager | None, assumed: Assumed) -> None:
    if manager and manager.transformed:
        assumed.say(
            "resources that Kueue counts as others (transformations) are counted as themselves"
        )
    if assumed.levels:
        assumed.say(
            f"which nodes share a {_without_domains(assumed.levels)} is known once they run;"
            " here all nodes of a pool or reservation do"
        )


def _world_of(reading: Reading, manager: QueueManager | None, pools: Sequence[PoolNodes]) -> World:
    world = read_world(
        (manifest.body for manifest in reading.manifests),
        [node for pool in pools for node in pool.nodes],
        fair=manager is not None and manager.fair_sharing,
        only_covered=manager is not None and manager.ignore_undeclared,
    )
    return replace(world, empty=empty_flavors(pools))


def _creation_order(work: PlannedWork) -> tuple[str, str, str, str]:
    """What orders objects that Flux applies in one stage: group, kind, namespace, name. No kind of job is among those
    that it applies before or after all others (fluxcd/pkg ssa v0.76.2, sort.go: ReconcileOrder, IsLessThan)."""
    kind = kinds().get(work.kind)
    group = kind.api.partition("/")[0] if kind is not None else ""
    return group, work.kind, work.namespace, work.job.name


def _included_objects(reading: Reading) -> Iterator[tuple[str, str]]:
    """The objects in a queue that the spec includes: they are no jobs of its plan."""
    known = {(work.namespace, work.name) for work in (*reading.works, *reading.pods)}
    for manifest in reading.manifests:
        ref = manifest.ref
        if not manifest.key or (ref.namespace, ref.name) in known:
            continue
        if value_at(manifest.body, "metadata", "labels", QUEUE):
            yield ref.name, "the spec includes it, and only its own jobs are simulated"


def _without_domains(levels: Iterable[str]) -> str:
    """Labels without their domains."""
    names = sorted(level.rpartition("/")[2] for level in levels)
    return " or ".join(f"`{name}`" for name in names)


def _title_of(work: PlannedWork) -> str:
    return work.job.source_name or work.name


def _why_left_out(work: PlannedWork, reading: Reading) -> str:
    """Why a job cannot be simulated; empty if it can."""
    if not work.has_pods:
        return "it does not run in Kubernetes, so Kueue does not admit it"
    if not work.queued:
        return "no queue: Kueue does not hold it back"
    if (_KUEUE, "LocalQueue", work.namespace, work.job.queue) in reading.plan.external:
        return "its queue is made by something else, which says what it may use"
    if work.suspend:
        return "suspended"
    if work.nodes is None or not work.complete:
        return "what it asks for is not known here"
    return ""


def _priorities_by_class(reading: Reading) -> Mapping[tuple[str, str], int]:
    """The values of priority classes, by kind and name; the default of pods that name none has the name ""."""
    found = {}
    for body in (manifest.body for manifest in reading.manifests):
        kind = str(body.get("kind"))
        if kind in ("WorkloadPriorityClass", "PriorityClass"):
            found[kind, str(body["metadata"]["name"])] = int(body["value"])
            if body.get("globalDefault"):
                found[kind, ""] = int(body["value"])
    return found


def _planned_job(
    work: PlannedWork,
    priorities: Mapping[tuple[str, str], int],
    prefixes: Sequence[str],
    assumed: Assumed,
) -> Job:
    """One job. All are created in the same second, as Flux applies them.

    The priority is that of the job's WorkloadPriorityClass, or else of its pods' PriorityClass (Kueue 0.19.2,
    pkg/util/priority).
    """
    of_pods = (work.pod.priority_class if work.pod else None) or ""
    priority = priorities.get(("PriorityClass", of_pods), 0)
    if work.job.priority:
        priority = priorities.get(("WorkloadPriorityClass", work.job.priority), priority)
    sets = tuple(_planned_pod_set(work, each, prefixes, assumed) for each in pod_sets(work))
    return Job(work.namespace, work.name, str(work.queue_name), sets, priority)


def _planned_pod_set(
    work: PlannedWork, planned: PlannedPodSet, prefixes: Sequence[str], assumed: Assumed
) -> PodSet:
    pod = planned.pod
    if pod is not None and "node_affinity" in pod.unread:
        assumed.say(f"the node affinity of `{_title_of(work)}` is not read")
    requests = counted_amounts(planned.asks, prefixes)
    tolerations = pod.tolerations if pod is not None else work.tolerations or ()
    return PodSet(
        planned.name,
        planned.count,
        requests,
        planned.least,
        dict(pod.node_selector if pod is not None else work.selector),
        tuple(
            {"key": each.key, "operator": each.operator, "value": each.value, "effect": each.effect}
            for each in tolerations
        ),
        _terms_of(pod),
        _placement_of(work, pod, assumed),
    )


def _terms_of(pod: Pod | None) -> tuple[tuple[Mapping[str, object], ...], ...]:
    if pod is None:
        return ()
    return tuple(
        tuple(
            {"key": each.key, "operator": each.operator, "values": list(each.values)}
            for each in term
        )
        for term in pod.pools
    )


def _placement_of(work: PlannedWork, pod: Pod | None, assumed: Assumed) -> Placement | None:
    annotations = {**work.job.annotations, **(pod.annotations if pod is not None else {})}
    if _GROUP in annotations:
        assumed.say("sets of pods that want one domain together are placed one by one")
    if any(key.startswith(_SLICES) for key in annotations):
        assumed.say("slices of a set of pods are not placed as slices")
    for suffix, mode in _MODES.items():
        level = annotations.get(f"{_TOPOLOGY}{suffix}")
        if level:
            return Placement(mode, level)
    if annotations.get(f"{_TOPOLOGY}unconstrained-topology") == "true":
        return Placement("unconstrained")
    return None


# Runs that go on although the spec no longer asks for them: they hold quota and nodes until they end.


_ANY_TAINT = ({"operator": "Exists"},)


def earlier_runs(
    reading: Reading, priorities: Mapping[tuple[str, str], int], prefixes: Sequence[str]
) -> Iterator[Job]:
    """Each such run as a job: with the pods that were noted, on the flavors of the pools that it may be on."""
    for run in reading.plan.of(StandingRun):
        if run.left and run.queue and run.pods:
            yield _earlier_job(run, reading, priorities, prefixes)


def _earlier_job(
    run: StandingRun,
    reading: Reading,
    priorities: Mapping[tuple[str, str], int],
    prefixes: Sequence[str],
) -> Job:
    flavors = [flavor for flavor in reading.plan.of(Flavor) if _may_be_on(flavor, run, reading)]
    terms = tuple(
        tuple(
            {"key": key, "operator": "In", "values": [value]}
            for key, value in flavor.node_labels.items()
        )
        for flavor in flavors
    )
    placement = None
    if flavors and all(flavor.topology for flavor in flavors):
        placement = Placement("unconstrained")
    sets = tuple(
        PodSet(
            f"pods-{index}",
            pods.number,
            counted_amounts(pods.asks, prefixes),
            tolerations=_ANY_TAINT,
            terms=terms,
            placement=placement,
        )
        for index, pods in enumerate(run.pods)
    )
    of_pods = priorities.get(("PriorityClass", POD_PRIORITY), 0)
    priority = priorities.get(("WorkloadPriorityClass", run.priority), of_pods)
    return Job(run.namespace, run.name, run.queue, sets, priority)


def _may_be_on(flavor: Flavor, run: StandingRun, reading: Reading) -> bool:
    """Whether nodes of a flavor are those of a run's pools."""
    return any(pool.title in run.pools for pool in reading.pools_of(flavor))


def counted_amounts(asks: Resources, prefixes: Sequence[str]) -> Amounts:
    """What pods ask for in the units of Kueue, without the resources that it does not count."""
    return {
        resource: ceil(quantity.milli if resource == "cpu" else quantity.milli / 1000)
        for resource, quantity in asks.items()
        if not resource.startswith(tuple(prefixes))
    }
