"""A plan read with the facts: the joins that rules, simulation and reports need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from trainyard.catalog import Catalog, version_key
from trainyard.catalog.capacity import VM_MEMORY_OVERHEAD
from trainyard.core.cloud.plan import RegionalCluster
from trainyard.core.images.plan import MadeImage, Recipe, repository_of
from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import EFA, HUGEPAGES, Container, Pod, Resources
from trainyard.core.pools.plan import Pool
from trainyard.core.queues.plan import Queue
from trainyard.eks.flux.plan import HelmRelease, chart_version
from trainyard.eks.jobs.plan import (
    TRAINER_CHART,
    Patch,
    Runtime,
    TrainJob,
    effective_pod,
    runtime_of,
)
from trainyard.eks.kueue.plan import ClusterQueue, LocalQueue, queue_of
from trainyard.eks.nodes.plan import NodeOverlay
from trainyard.eks.third_party_workloads.plan import PodSet, Workload
from trainyard.judge.model.amounts import requested
from trainyard.judge.model.choice import Choice
from trainyard.judge.model.choices import find_choices
from trainyard.judge.model.cohorts import Cohorts
from trainyard.judge.model.configured import ConfigMaps, Configured, config_maps, configured
from trainyard.judge.model.containers import programs_beside
from trainyard.judge.model.exports import exported
from trainyard.judge.model.gangs import gang_of, nodes_of, sets_beside, with_program
from trainyard.judge.model.landing import Landing, devices_of, landing_of
from trainyard.judge.model.nodes import Nodes
from trainyard.judge.model.patched import patched_selector, patched_tolerations
from trainyard.judge.model.pods import as_job, is_judged, main_container
from trainyard.judge.model.roles import roles_of
from trainyard.judge.model.runtimes import released_runtime
from trainyard.judge.model.storage import Storage
from trainyard.judge.model.values import value_at
from trainyard.judge.model.work import Work
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan, Quantity
from trainyard.plan.scheduling import INSTANCE_TYPE, Requirement

Read = TypeVar("Read")
RoomKey = tuple[str, int, bool, float]
"""An instance type, whether it has huge pages, and the share of memory that Karpenter leaves out of account."""


class Room(NamedTuple):
    """What pods can request on a node. ``notes`` say what was taken off before."""

    cpu_milli: int
    memory_mib: int
    notes: tuple[str, ...]


class Reading(Nodes):
    """A plan and the catalog, joined. Joins are computed on first use and cached."""

    def __init__(self, plan: Plan, catalog: Catalog, manifests: Sequence[Manifest] = ()) -> None:
        super().__init__(plan, catalog, manifests)
        self.rooms: dict[RoomKey, Room] = {}
        self.too_large: dict[int, int] = {}
        self._read: dict[object, Any] = {}
        self._known_choices: dict[object, tuple[Choice, ...]] = {}
        self._landings: dict[int, Landing] = {}

    def once(self, read: Callable[[Reading], Read]) -> Read:
        """What a function reads of the plan and the catalog, which it does once."""
        if read not in self._read:
            self._read[read] = read(self)
        known: Read = self._read[read]
        return known

    # -- jobs

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """Every job, joined."""
        return tuple(self._work(job) for job in self.plan.of(Gang))

    @cached_property
    def pods(self) -> tuple[Work, ...]:
        """The pods of other kinds that ask for devices or go to a queue, as far as they are like a job."""
        return tuple(self._by_pod.values())

    @cached_property
    def _by_pod(self) -> Mapping[int, Work]:
        by_pod: dict[int, Work] = {}
        for workload in self.plan.of(Workload):
            judged = [part for part in workload.pods if is_judged(workload, part.pod)]
            works = {id(part.pod): self._pods_work(workload, part) for part in judged}
            nodes = [part for part in judged if not part.beside]
            if nodes and not any(part.has(workload.program) for part in judged):
                first = id(nodes[0].pod)
                works[first] = with_program(works[first], workload)
            by_pod |= works
        return by_pod

    def workload_of(self, work: Work) -> Workload | None:
        """The third-party object that pods or a job are of."""
        return self._workloads.get(work.at)

    @cached_property
    def _workloads(self) -> Mapping[Route, Workload]:
        return {workload.at: workload for workload in self.plan.of(Workload)}

    @cached_property
    def gangs(self) -> tuple[Work, ...]:
        """Third-party jobs of which it is known how many pods there are, each as one job."""
        gangs = (gang_of(workload, self._by_pod) for workload in self.plan.of(Workload))
        return tuple(work for work in gangs if work is not None)

    @cached_property
    def other_sets(self) -> tuple[Work, ...]:
        """The pods of third-party jobs beside those that the job is judged by, each as a job: a master beside workers,
        a second replicated job."""
        return tuple(other for gang in self.gangs for other in sets_beside(gang, self._by_pod))

    @cached_property
    def third_party(self) -> tuple[Work, ...]:
        """Every third-party object with pods that rules judge, once: as one job, or by its pods where it is none."""
        whole = {work.at for work in self.gangs}
        return (*self.gangs, *(work for work in self.pods if work.at not in whole))

    @property
    def programs(self) -> tuple[Work, ...]:
        """Every program of every job: a job, its roles, and other sets of pods, each as a job."""
        return (*self.works, *self.roles, *self.third_party, *self.other_sets)

    @cached_property
    def roles(self) -> tuple[Work, ...]:
        """The pods of jobs that run another program than the job's own, each as a job: roles of a JobSet."""
        return tuple(role for work in self.works for role in roles_of(work))

    @cached_property
    def parts_beside(self) -> tuple[Work, ...]:
        """The other pods of a job's runtime that ask for devices in another way than its nodes do, each as a job."""
        return tuple(part for work in self.works for part in self._parts_of(work))

    def _parts_of(self, work: Work) -> Iterator[Work]:
        if work.runtime is None or work.main is None:
            return
        own = requested(work.main)
        for part, pod, _ in work.others:
            main = main_container(pod)
            if part.step is not None or main is None or requested(main) == own:
                continue
            joined = self._join(
                replace(work.job, at=part.at, image=None, command=(), args=(), env=(), origins={}),
                runtime=work.runtime,
                pod=pod,
                main=main,
                queue=work.queue,
                nodes=part.nodes,
                unknown="node_affinity" in pod.unread,
            )
            if joined.accelerator is not None:
                yield replace(joined, role=part.name)

    @cached_property
    def containers_beside(self) -> tuple[Work, ...]:
        """The containers beside the program of each job and role, and init containers, each as a job."""
        return tuple(programs_beside((*self.works, *self.roles, *self.pods)))

    def _pods_work(self, workload: Workload, part: PodSet) -> Work:
        pod = part.pod
        main = main_container(pod)
        job = as_job(workload, part, main)
        return self._join(
            job,
            pod=pod,
            main=main,
            queue=self._queue(job) if job.queue else None,
            nodes=nodes_of(workload, part),
            # A DaemonSet runs on every node. Where required node affinity leads is not read.
            unknown=workload.everywhere or "node_affinity" in pod.unread,
        )

    @cached_property
    def _by_runtime(self) -> dict[int, list[Work]]:
        by_runtime: dict[int, list[Work]] = {}
        for work in self.works:
            runtime = id(work.runtime)
            by_runtime.setdefault(runtime, []).append(work)
        return by_runtime

    @cached_property
    def _by_pool(self) -> dict[int, list[Work]]:
        by_pool: dict[int, list[Work]] = {}
        for work in (*self.works, *self.third_party):
            for pool in work.pools:
                works = by_pool.setdefault(id(pool), [])
                works.append(work)
        return by_pool

    def work_of(self, job: Gang) -> Work:
        """A job, joined."""
        return self._by_job[id(job)]

    @cached_property
    def _by_job(self) -> dict[int, Work]:
        return {id(work.job): work for work in self.works}

    def works_named(self, name: str, namespace: str) -> list[Work]:
        """The jobs of a name, as what a spec alone says of a job has it: its model, or how long it takes."""
        return self._by_name.get((name, namespace), [])

    @cached_property
    def _by_name(self) -> dict[tuple[str, str | None], list[Work]]:
        by_name: dict[tuple[str, str | None], list[Work]] = {}
        for work in self.works:
            by_name.setdefault((work.name, work.namespace), []).append(work)
        return by_name

    def works_of(self, runtime: Runtime) -> list[Work]:
        """The jobs that refer to a runtime."""
        return self._by_runtime.get(id(runtime), [])

    def works_on(self, pool: Pool) -> list[Work]:
        """The jobs that may land on a pool."""
        return self._by_pool.get(id(pool), [])

    @cached_property
    def _merge_resources(self) -> bool:
        # Trainer before 2.3 replaced the runtime's resources by resourcesPerNode as a whole.
        version = chart_version(self.plan, TRAINER_CHART)
        if version is None:
            return True
        return version_key(version) >= (2, 3)

    def _work(self, job: Gang) -> Work:
        if not isinstance(job, TrainJob):
            return self._join(
                job,
                pod=None,
                main=None,
                queue=self._queue(job),
                nodes=_nodes(job, None),
                # Of others a job that says nothing goes to a default that the set does not show.
                unknown=not self.plan.closed and not job.selector,
            )
        runtime = self._runtime(job)
        pod = self._pod(job, runtime)
        main = None
        if pod is not None and runtime is not None:
            main = pod.container(runtime.main)
        pods = [patch.pod for patch in job.patches]
        if pod is not None:
            pods.append(pod)
        # Where required node affinity leads is not read.
        unknown = any("node_affinity" in each.unread for each in pods)
        return self._join(
            job,
            runtime=runtime,
            pod=pod,
            main=main,
            queue=self._queue(job),
            nodes=_nodes(job, runtime),
            unknown=unknown,
        )

    def _pod(self, job: TrainJob, runtime: Runtime | None) -> Pod | None:
        """The pod of a job's nodes. With a patch of a job or container that the runtime does not have, which verify
        reports, it is unknown."""
        if runtime is None or not all(_can_apply(patch, runtime) for patch in job.patches):
            return None
        return effective_pod(job, runtime, merge_resources=self._merge_resources)

    def _join(
        self,
        job: Gang,
        *,
        runtime: Runtime | None = None,
        pod: Pod | None,
        main: Container | None,
        queue: Queue | None,
        nodes: int | None,
        unknown: bool,
    ) -> Work:
        """A job with all that it will run by. ``unknown``: something that is not read decides where it lands."""
        written = main if main is not None else job
        asks = requested(written)
        if pod is not None:
            selector = pod.node_selector
        else:
            selector = patched_selector(job)
        choices: tuple[Choice, ...] = ()
        if not unknown:
            choices = self._choices(job, selector, queue, asks, pod)
        if choices or unknown or self.pools:
            pools, offers, types = self._cached_landing(choices)
        else:
            pools, offers, types = self._assumed_landing(selector)
        if job.has_all_efa and offers:
            efa = min(self.efa_of(pool, instance) for pool, instance in offers)
            asks = {**asks, EFA: Quantity.of(efa)} if efa else asks
        if job.has_whole_nodes and offers:
            asks = {**devices_of(offers), **asks}
        words = (*written.command, *written.args)
        recipe = self._recipe(job.image or written.image or "")
        variables: dict[str, str | None] = {} if recipe is None else dict(recipe.env)
        taken = self._configured(main, job.namespace)
        variables |= {name: each.text for name, each in taken.items()}
        for variable in written.env:
            if variable.name not in taken or variable.value is not None:
                variables[variable.name] = variable.value
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
            nodes=nodes,
            choices=choices,
            kind=job.kind,
            env={**variables, **exported(words)},
            words=words,
            recipe=recipe,
            configured={name: each.at for name, each in taken.items()},
        )

    def _configured(self, main: Container | None, namespace: str) -> Mapping[str, Configured]:
        """The variables that the main container takes from ConfigMaps of the set."""
        if main is None or not main.at or not self._config_maps:
            return {}
        body = value_at(self._bodies.get(str(main.at[0])), *main.at[1:])
        return configured(body, namespace, self._config_maps)

    @cached_property
    def _config_maps(self) -> ConfigMaps:
        return config_maps(self.manifests)

    @cached_property
    def _bodies(self) -> Mapping[str, Any]:
        return {manifest.id: manifest.body for manifest in self.manifests}

    def _recipe(self, image: str) -> Recipe | None:
        """The recipe of an image, if it is built here."""
        recipes = self._recipes
        return recipes.get(repository_of(image)) if recipes else None

    @cached_property
    def _recipes(self) -> Mapping[str, Recipe]:
        """The recipes of images that are built here, by their repositories."""
        recipes = {recipe.name: recipe for recipe in self.plan.of(Recipe)}
        return {
            image.uri: recipes[image.name]
            for image in self.plan.of(MadeImage)
            if image.name in recipes
        }

    def _runtime(self, job: TrainJob) -> Runtime | None:
        """The runtime of a job: one of the set, or else one that every Trainer brings."""
        runtime = runtime_of(self.plan, job)
        if runtime is not None or self.plan.closed:
            return runtime
        if job.runtime_kind != "ClusterTrainingRuntime":
            return None
        return released_runtime(job.runtime, job.where("runtime"))

    def _cached_landing(self, choices: tuple[Choice, ...]) -> Landing:
        """The pools, offers and types of all choices, each once; cached by the choices, which are cached themselves."""
        landing = self._landings.get(id(choices))
        if landing is None:
            landing = landing_of(choices)
            self._landings[id(choices)] = landing
        return landing

    def _assumed_landing(self, selector: Mapping[str, str]) -> Landing:
        """Where a set without any pool says by a job's own selector on which type it lands: nodes of that type."""
        name = selector.get(INSTANCE_TYPE, "")
        instance = self.catalog.instance(name)
        if instance is None:
            return (), (), ()
        requirement = Requirement(INSTANCE_TYPE, "In", (instance.name,))
        pool = Pool(name=instance.name, requirements=(requirement,))
        return ((), ((pool, instance),), (instance,))

    def _queue(self, job: Gang) -> Queue | None:
        """The queue of a job; a TrainJob without one goes to the LocalQueue ``default`` (kueue v0.19.2)."""
        if not isinstance(job, TrainJob):
            return self._queues.get(job.queue or "")
        if job.queue is not None:
            return queue_of(self.plan, job.queue, job.namespace)
        if not job.namespace:
            return None
        local = self.plan.named(LocalQueue, "default", job.namespace)
        if local is None:
            return None
        return self.plan.named(ClusterQueue, local.cluster_queue)

    def _choices(
        self,
        job: Gang,
        selector: Mapping[str, str],
        queue: Queue | None,
        asks: Resources,
        pod: Pod | None,
    ) -> tuple[Choice, ...]:
        if not self.pools:
            return ()
        reach = pod.tolerations if pod else patched_tolerations(job)
        if job.queue is not None and queue is None:
            reach = None  # flavors of a queue that is elsewhere may add tolerations
            is_bound = pod is not None and pod.pools
            pinned = self._pins(selector) or is_bound
            if self.plan.of(ClusterQueue) and not pinned:
                return ()  # and lead to pools that are elsewhere
        amounts = [(name, amount.milli) for name, amount in asks.items()]
        labels = sorted(selector.items())
        if pod is not None:
            terms = pod.pools
        else:
            terms = ()
        key = (tuple(labels), terms, queue.name if queue else "", tuple(sorted(amounts)), reach)
        choices = self._known_choices.get(key)
        if choices is None:
            choices = find_choices(self, selector, queue, asks, reach, terms)
            self._known_choices[key] = choices
        return choices

    def _pins(self, selector: Mapping[str, str]) -> bool:
        """Whether a node selector names some pool of the set for certain."""
        return any(
            self.has_label(pool, key, value)
            for pool in self.pools
            for key, value in selector.items()
        )

    # -- queues

    @cached_property
    def _queues(self) -> dict[str, Queue]:
        return {queue.name: queue for queue in self.plan.of(Queue)}

    @cached_property
    def cohorts(self) -> Cohorts:
        """The trees that queues borrow in."""
        return Cohorts(self.plan)

    @cached_property
    def storage(self) -> Storage:
        """Claims, with the volumes and classes behind them."""
        return Storage(self.plan, self.manifests)

    @cached_property
    def limit_ranges(self) -> Mapping[str, list[Manifest]]:
        """The LimitRanges of each namespace."""
        by_namespace: dict[str, list[Manifest]] = {}
        for manifest in self.manifests:
            namespace = manifest.ref.namespace
            if manifest.body.get("kind") == "LimitRange" and namespace:
                by_namespace.setdefault(namespace, []).append(manifest)
        return by_namespace

    # -- the cluster

    @cached_property
    def region(self) -> str:
        """The Region that all clusters of the plan are in; empty where it is unknown."""
        regions = {cluster.region for cluster in self.plan.of(RegionalCluster)}
        return regions.pop() if len(regions) == 1 else ""

    # -- delivery

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The file of each manifest, by its id."""
        return {manifest.id: manifest.path.replace("\\", "/") for manifest in self.manifests}

    def carries(self, folder: str, at: Route) -> bool:
        """Whether a Kustomization over a folder of the repository carries an object. Where files are unknown, every
        one may."""
        if not at:
            return True
        file = self.paths.get(str(at[0]), "")
        keys = folder.split("/")
        parts = [part for part in keys if part not in ("", ".")]
        if not file or not parts:
            return True
        inner = "/".join(parts)
        inside = f"/{inner}/" in f"/{file}"
        return inside or file.startswith(f"{parts[-1]}/")

    @cached_property
    def knows_huge_pages(self) -> bool:
        """Whether Karpenter knows the huge pages of nodes: by an overlay, or since our own output asks for no more than
        is left with and without them."""
        if self.plan.closed:
            return True
        overlays = self.plan.of(NodeOverlay)
        return any(HUGEPAGES in node.capacity for node in overlays)

    @cached_property
    def memory_overhead(self) -> float:
        """The share of a node's memory that Karpenter leaves out of account, by its release or by default."""
        for release in self.releases("karpenter"):
            percent = value_at(release.values, "settings", "vmMemoryOverheadPercent")
            if isinstance(percent, int | float):
                return float(percent)
        return VM_MEMORY_OVERHEAD

    def releases(self, *charts: str) -> list[HelmRelease]:
        """The Helm releases of some charts."""
        releases = self.plan.of(HelmRelease)
        return [release for release in releases if release.chart in charts]


def _can_apply(patch: Patch, runtime: Runtime) -> bool:
    """Whether a runtime has the job and the containers that a patch is for."""
    job = runtime.job(patch.job)
    if job is None:
        return False
    names = [container.name for container in patch.pod.containers]
    return all(job.pod.container(name) for name in names)


def _nodes(job: Gang, runtime: Runtime | None) -> int | None:
    if job.least_nodes is not None:
        return job.least_nodes
    if job.nodes is not None or "nodes" in job.unread:
        return job.nodes
    if runtime is None or "nodes" in runtime.unread:
        return None
    return runtime.nodes or 1
