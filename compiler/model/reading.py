"""A plan read with the facts: the joins that rules, simulation and reports need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from compiler.catalog import Catalog, InstanceType, version_key
from compiler.catalog.capacity import VM_MEMORY_OVERHEAD
from compiler.manifest import Manifest
from compiler.model.choices import find_choices
from compiler.model.nodes import Nodes
from compiler.model.pods import as_job, in_question, main_container
from compiler.model.runtimes import released
from compiler.model.storage import Storage
from compiler.model.values import value
from compiler.model.work import Choice, Offer, Work, patched_tolerations
from compiler.plan import Plan, Quantity
from compiler.source import Route
from compiler.subjects.delivery.plan import HelmRelease, chart_version
from compiler.subjects.jobs.plan import (
    HUGEPAGES,
    TRAINER_CHART,
    Patch,
    Pod,
    Resources,
    Runtime,
    TrainJob,
    effective_pod,
    runtime_of,
)
from compiler.subjects.pools.plan import (
    INSTANCE_TYPE,
    NodeOverlay,
    NodePool,
    Requirement,
)
from compiler.subjects.queues.plan import (
    ClusterQueue,
    Cohort,
    LocalQueue,
    Quota,
    queue_of,
)
from compiler.subjects.workloads.plan import PodSet, Workload

Landing = tuple[tuple[NodePool, ...], tuple[Offer, ...], tuple[InstanceType, ...]]


class Reading(Nodes):
    """A plan and the catalog, joined. Joins are made on first use and kept."""

    def __init__(
        self, plan: Plan, catalog: Catalog, manifests: Sequence[Manifest] = ()
    ) -> None:
        super().__init__(plan, catalog, manifests)
        self.rooms: dict[tuple[str, bool, float], tuple[int, int, tuple[str, ...]]] = {}
        self._candidates: dict[object, tuple[Choice, ...]] = {}
        self._landings: dict[int, Landing] = {}

    # -- jobs

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """Every TrainJob, joined."""
        return tuple(self._work(job) for job in self.plan.of(TrainJob))

    @cached_property
    def pods(self) -> tuple[Work, ...]:
        """The pods of other kinds that ask for devices or go to a queue, as far as they are like a job."""
        sets = (
            (workload, each)
            for workload in self.plan.of(Workload)
            for each in workload.pods
        )
        return tuple(
            self._pods(workload, each)
            for workload, each in sets
            if in_question(workload, each.pod)
        )

    def _pods(self, workload: Workload, each: PodSet) -> Work:
        main = main_container(each.pod)
        job = as_job(workload, main)
        asks = {**main.requests, **main.limits} if main else {}
        queue, selector = (
            self._queue(job) if job.queue else None,
            each.pod.node_selector,
        )
        lost = workload.everywhere or "node_affinity" in each.pod.unread
        choices = () if lost else self._choices(job, selector, queue, asks, each.pod)
        pools, offers, types = (
            self._joined(choices)
            if choices or lost or self.pools
            else self._assumed(selector)
        )
        return Work(
            job=job,
            runtime=None,
            pod=each.pod,
            main=main,
            asks=asks,
            pools=pools,
            offers=offers,
            types=types,
            queue=queue,
            nodes=workload.nodes,
            choices=choices,
            kind=workload.kind,
            env={one.name: one.value for one in main.env} if main else {},
            words=(*main.command, *main.args) if main else (),
        )

    @cached_property
    def _by_runtime(self) -> dict[int, list[Work]]:
        found: dict[int, list[Work]] = {}
        for work in self.works:
            found.setdefault(id(work.runtime), []).append(work)
        return found

    @cached_property
    def _by_pool(self) -> dict[int, list[Work]]:
        found: dict[int, list[Work]] = {}
        for work in self.works:
            for pool in work.pools:
                found.setdefault(id(pool), []).append(work)
        return found

    def work_of(self, job: TrainJob) -> Work:
        """A TrainJob, joined."""
        return self._by_job[id(job)]

    @cached_property
    def _by_job(self) -> dict[int, Work]:
        return {id(work.job): work for work in self.works}

    def works_of(self, runtime: Runtime) -> list[Work]:
        """The jobs that refer to a runtime."""
        return self._by_runtime.get(id(runtime), [])

    def works_on(self, pool: NodePool) -> list[Work]:
        """The jobs that may land on a pool."""
        return self._by_pool.get(id(pool), [])

    @cached_property
    def _merge_resources(self) -> bool:
        # Trainer before 2.3 replaced the runtime's resources by resourcesPerNode as a whole.
        version = chart_version(self.plan, TRAINER_CHART)
        return version is None or version_key(version) >= (2, 3)

    def _work(self, job: TrainJob) -> Work:
        runtime, queue = self._runtime(job), self._queue(job)
        # A patch of a job or container that the runtime does not have never runs (verify tells): what would is unknown.
        known = runtime is not None and all(
            _fits(each, runtime) for each in job.patches
        )
        pod = (
            effective_pod(job, runtime, merge_resources=self._merge_resources)
            if runtime and known
            else None
        )
        main = pod.container("node") if pod else None
        asks = (
            {**main.requests, **main.limits} if main else {**job.requests, **job.limits}
        )
        selector: dict[str, str] = dict(pod.node_selector) if pod else {}
        if pod is None:
            for patch in job.patches:
                selector.update(patch.pod.node_selector)
        # Where required node affinity leads is not read.
        pods = (pod, *(each.pod for each in job.patches))
        lost = any("node_affinity" in each.unread for each in pods if each is not None)
        choices = () if lost else self._choices(job, selector, queue, asks, pod)
        pools, offers, types = (
            self._joined(choices)
            if choices or lost or self.pools
            else self._assumed(selector)
        )
        env = main.env if main else job.env
        return Work(
            job=job,
            runtime=runtime,
            pod=pod,
            main=main,
            asks=asks,
            pools=pools,
            offers=offers,
            types=types,
            queue=queue,
            nodes=_nodes(job, runtime),
            env={each.name: each.value for each in env},
            choices=choices,
            words=(*main.command, *main.args) if main else (*job.command, *job.args),
        )

    def _runtime(self, job: TrainJob) -> Runtime | None:
        """The runtime of a job: one of the set, or else one that every Trainer brings."""
        found = runtime_of(self.plan, job)
        if (
            found is None
            and not self.plan.closed
            and job.runtime_kind == "ClusterTrainingRuntime"
        ):
            return released(job.runtime, job.where("runtime"))
        return found

    def _joined(self, choices: tuple[Choice, ...]) -> Landing:
        """The pools, offers and types of all choices, each once; kept by the choices, which are kept themselves."""
        found = self._landings.get(id(choices))
        if found is None:
            known = all(each.offers for each in choices)
            pools = {pool.name: pool for each in choices for pool in each.pools}
            offers = {
                (pool.name, kind.name): (pool, kind)
                for each in choices
                for pool, kind in each.offers
                if known
            }
            types = {kind.name: kind for _, kind in offers.values()}
            found = tuple(pools.values()), tuple(offers.values()), tuple(types.values())
            self._landings[id(choices)] = found
        return found

    def _assumed(self, selector: Mapping[str, str]) -> Landing:
        """Where a set without any pool says by a job's own selector on which type it lands: nodes of just that."""
        instance = self.catalog.instance(selector.get(INSTANCE_TYPE, ""))
        if instance is None:
            return (), (), ()
        requirement = Requirement(INSTANCE_TYPE, "In", (instance.name,))
        pool = NodePool(name=instance.name, node_class="", requirements=(requirement,))
        return (), ((pool, instance),), (instance,)

    def _queue(self, job: TrainJob) -> ClusterQueue | None:
        """The ClusterQueue of a job; one without a queue goes to the LocalQueue ``default`` (kueue v0.19.2)."""
        if job.queue is not None:
            return queue_of(self.plan, job)
        local = (
            self.plan.named(LocalQueue, "default", job.namespace)
            if job.namespace
            else None
        )
        return self.plan.named(ClusterQueue, local.cluster_queue) if local else None

    def _choices(
        self,
        job: TrainJob,
        selector: Mapping[str, str],
        queue: ClusterQueue | None,
        asks: Resources,
        pod: Pod | None,
    ) -> tuple[Choice, ...]:
        reach = pod.tolerations if pod else patched_tolerations(job)
        if job.queue is not None and queue is None:
            reach = None  # flavors of a queue that is elsewhere may add tolerations
            if self.plan.of(ClusterQueue) and not self._pins(selector):
                return ()  # and lead to pools that are elsewhere
        amounts = tuple(sorted((name, each.milli) for name, each in asks.items()))
        key = (
            tuple(sorted(selector.items())),
            queue.name if queue else "",
            amounts,
            reach,
        )
        found = self._candidates.get(key)
        if found is None:
            found = self._candidates[key] = find_choices(
                self, selector, queue, asks, reach
            )
        return found

    def _pins(self, selector: Mapping[str, str]) -> bool:
        """Whether a node selector names some pool of the set for certain."""
        return any(
            self.has_label(pool, key, value)
            for pool in self.pools
            for key, value in selector.items()
        )

    # -- queues

    def borrowable(
        self, queue: ClusterQueue, flavor: str, resource: str
    ) -> Quantity | None:
        """The most of a resource that a queue can ever get in a flavor; ``None`` if other queues may add to it."""
        own = _quota(queue, flavor, resource)
        if own is None:
            return None
        if queue.cohort is None:
            return own.nominal
        bounds = [own.nominal + own.borrowing] if own.borrowing is not None else []
        root = self.root(queue.cohort)
        others = [
            each
            for each in self.plan.of(ClusterQueue)
            if each is not queue and self.root(each.cohort) == root
        ]
        if self.plan.closed or (others and self._cohorts_whole):
            lent = [_lent(_quota(each, flavor, resource)) for each in others]
            given = [
                each.nominal
                for cohort in self.plan.of(Cohort)
                if self.root(cohort.name) == root
                if (each := _quota(cohort, flavor, resource)) is not None
            ]
            bounds.append(sum((*lent, *given), own.nominal))
        return min(bounds, default=None)

    @cached_property
    def _cohorts_whole(self) -> bool:
        """Whether an open set seems to hold all queues and cohorts: of those that it names none is elsewhere."""
        plan = self.plan
        named = {each.cohort for each in plan.of(ClusterQueue)} | {
            each.parent for each in plan.of(Cohort)
        }
        return all(
            plan.named(ClusterQueue, each.cluster_queue) for each in plan.of(LocalQueue)
        ) and (
            not plan.of(Cohort)
            or named - {None} <= {each.name for each in plan.of(Cohort)}
        )

    def root(self, cohort: str | None) -> str | None:
        """The topmost cohort above one; itself in a cycle."""
        seen: list[str] = []
        while cohort is not None and cohort not in seen:
            seen.append(cohort)
            cohort = self.parents.get(cohort)
        return seen[-1] if cohort is None and seen else cohort

    @cached_property
    def parents(self) -> Mapping[str, str | None]:
        """The parent of each cohort."""
        return {each.name: each.parent for each in self.plan.of(Cohort)}

    @cached_property
    def storage(self) -> Storage:
        """Claims, with the volumes and classes behind them."""
        return Storage(self.plan, self.manifests)

    @cached_property
    def limit_ranges(self) -> Mapping[str, list[Manifest]]:
        """The LimitRanges of each namespace."""
        found: dict[str, list[Manifest]] = {}
        for each in self.manifests:
            if each.body.get("kind") == "LimitRange" and each.ref.namespace:
                found.setdefault(each.ref.namespace, []).append(each)
        return found

    # -- delivery

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The file of each manifest, by its id."""
        return {each.id: each.path.replace("\\", "/") for each in self.manifests}

    def carries(self, folder: str, at: Route) -> bool:
        """Whether a Kustomization over a folder of the repository carries an object. Where files are unknown, every
        one may."""
        file = self.paths.get(str(at[0]), "") if at else ""
        parts = "/".join(each for each in folder.split("/") if each not in ("", "."))
        return (
            not file
            or not parts
            or f"/{parts}/" in f"/{file}"
            or file.startswith(f"{parts.rpartition('/')[2]}/")
        )

    @cached_property
    def huge_pages_told(self) -> bool:
        """Whether Karpenter is told of huge pages. Our own output asks for no more than is left by all accounts."""
        return self.plan.closed or any(
            HUGEPAGES in each.capacity for each in self.plan.of(NodeOverlay)
        )

    @cached_property
    def memory_overhead(self) -> float:
        """The share of a node's memory that Karpenter leaves out of account, by its release or by default."""
        given = (
            value(each.values, "settings", "vmMemoryOverheadPercent")
            for each in self.releases("karpenter")
        )
        return next(
            (float(each) for each in given if isinstance(each, int | float)),
            VM_MEMORY_OVERHEAD,
        )

    def releases(self, *charts: str) -> list[HelmRelease]:
        """The Helm releases of some charts."""
        return [each for each in self.plan.of(HelmRelease) if each.chart in charts]


def _fits(patch: Patch, runtime: Runtime) -> bool:
    """Whether a runtime has the job and the containers that a patch is for."""
    job = runtime.job(patch.job)
    return job is not None and all(
        job.pod.container(each.name) for each in patch.pod.containers
    )


def _nodes(job: TrainJob, runtime: Runtime | None) -> int | None:
    if job.nodes is not None or "nodes" in job.unread:
        return job.nodes
    return None if runtime is None or "nodes" in runtime.unread else runtime.nodes or 1


def _lent(quota: Quota | None) -> Quantity:
    """The most of a queue's quota that others may borrow."""
    if quota is None:
        return Quantity(0)
    return quota.nominal if quota.lending is None else min(quota.nominal, quota.lending)


def _quota(queue: ClusterQueue | Cohort, flavor: str, resource: str) -> Quota | None:
    for each in queue.flavors():
        if each.flavor == flavor and (found := each.of(resource)) is not None:
            return found
    return None
