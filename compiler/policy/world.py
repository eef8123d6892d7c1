"""What rules see beside their own node: the plan, the facts, and the joins that many rules need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any

from compiler.catalog import Catalog, InstanceType, version_key
from compiler.manifest import Manifest
from compiler.plan import Plan, PlanNode, Quantity
from compiler.plan.delivery import HelmRelease
from compiler.plan.jobs import Pod, Resources, Runtime, TrainJob, effective_pod
from compiler.plan.nodes import INSTANCE_TYPE, NodeClass, NodePool, Toleration
from compiler.plan.queues import ClusterQueue, Flavor, Quota
from compiler.policy.choices import find_choices
from compiler.policy.offers import FACTS, GroupPool, accelerated, as_pool, excluding, has_label, named, types_of
from compiler.policy.rule import NO_PARAMS
from compiler.policy.work import Choice, Work

RESERVATION_TYPE = "karpenter.k8s.aws/capacity-reservation-type"


class World:
    """The plan and the catalog as rules see them. Joins are made on first use and kept.

    Three-valued throughout: ``None`` or () is unknown, and a rule that meets it stays silent.
    """

    def __init__(self, plan: Plan, catalog: Catalog, manifests: Sequence[Manifest] = ()) -> None:
        self.plan = plan
        self.catalog = catalog
        self.manifests = manifests
        self.params: Mapping[str, Any] = NO_PARAMS
        self.today = date.min
        self.rooms: dict[tuple[str, bool], tuple[int, int, tuple[str, ...]]] = {}
        self._types: dict[int, tuple[InstanceType, ...]] = {}
        self._candidates: dict[object, tuple[Choice, ...]] = {}
        self._pool_types: dict[tuple[int, ...], tuple[InstanceType, ...]] = {}

    def param(self, name: str) -> Any:
        """The value of a parameter of the rule that is running."""
        return self.params[name]

    # -- nodes

    @cached_property
    def pools(self) -> tuple[NodePool, ...]:
        """Where pods may land: the node pools, and eksctl's node groups seen as pools."""
        groups = self.plan.cluster.node_groups if self.plan.cluster else ()
        return (*self.plan.node_pools, *(as_pool(each) for each in groups)) if groups else self.plan.node_pools

    def types(self, pool: NodePool) -> tuple[InstanceType, ...]:
        """The instance types that a pool may launch; () where the facts do not tell all of them."""
        found = self._types.get(id(pool))
        if found is None:
            found = self._types[id(pool)] = types_of(pool, self.catalog)
        return found

    def node_class(self, pool: NodePool) -> NodeClass | None:
        """The EC2NodeClass of a pool."""
        return self.plan.node_class(pool.node_class)

    def pools_of_class(self, node_class: NodeClass) -> list[NodePool]:
        """The pools that launch by a node class."""
        return [each for each in self.plan.node_pools if each.node_class == node_class.name]

    def accelerated(self, pool: NodePool) -> bool:
        """Whether every node of a pool is known to have accelerators."""
        return accelerated(pool, self.types(pool))

    def efa_of(self, pool: NodePool, instance: InstanceType) -> int:
        """EFA devices of a pool's node of a type: those of ``networkInterfaces``, or else all of the type; of a node
        group those of the type if it is ``efaEnabled``."""
        if isinstance(pool, GroupPool):
            return instance.efa_interfaces if pool.efa else 0
        node_class = self.node_class(pool)
        return node_class.efa if node_class is not None and node_class.interfaces else instance.efa_interfaces

    def most_nodes(self, pool: NodePool, instance: InstanceType) -> int | None:
        """Nodes of a type that a pool's replicas and limits allow; ``None`` without any that is known."""
        if pool.unread:
            return None
        per_node = {"nodes": 1000, "cpu": instance.vcpus * 1000, "memory": instance.memory_mib * 1024**2 * 1000}
        if instance.accelerator_resource:
            per_node[instance.accelerator_resource] = instance.accelerators * 1000
        found = [limit.milli // per_node[name] for name, limit in pool.limits.items() if per_node.get(name)]
        if pool.replicas is not None:
            found.append(pool.replicas)
        return min(found) if found else None

    def starts_empty(self, pool: NodePool) -> bool:
        """Whether a pool is known to have no node until a pod needs one."""
        if isinstance(pool, GroupPool):
            return pool.least == 0
        return pool.replicas is None and "replicas" not in pool.unread

    def block(self, pool: NodePool) -> bool:
        """Whether a pool launches into Capacity Blocks only."""
        return pool.values(RESERVATION_TYPE) == ("capacity-block",)

    @property
    def region(self) -> str | None:
        """The region of the cluster, where the set says it."""
        return self.plan.cluster.region if self.plan.cluster else None

    def has_label(self, pool: NodePool, key: str, value: str) -> bool | None:
        """Whether nodes of a pool carry a label; ``None`` if that cannot be told."""
        types = self.types(pool) if key in FACTS else ()
        if key in FACTS and not types and named(pool, self.catalog):
            return None  # its requirements contradict each other: which one is meant is not known
        if key == INSTANCE_TYPE and not types and (instance := self.catalog.instance(value)) is not None:
            return False if excluding(pool, instance) else has_label(pool, types, key, value)
        return has_label(pool, types, key, value)

    def may_match(self, pool: NodePool, labels: Mapping[str, str]) -> bool:
        """Whether nodes of a pool may carry all labels: nothing says that they do not."""
        return all(self.has_label(pool, key, value) is not False for key, value in labels.items())

    def pools_of(self, flavor: Flavor) -> list[NodePool]:
        """The pools whose nodes may belong to a flavor."""
        return [each for each in self.pools if self.may_match(each, flavor.node_labels)]

    # -- jobs

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """Every TrainJob, joined."""
        return tuple(self._work(job) for job in self.plan.jobs)

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

    def works_of(self, runtime: Runtime) -> list[Work]:
        """The jobs that refer to a runtime."""
        return self._by_runtime.get(id(runtime), [])

    def works_on(self, pool: NodePool) -> list[Work]:
        """The jobs that may land on a pool."""
        return self._by_pool.get(id(pool), [])

    @cached_property
    def _merge_resources(self) -> bool:
        # Trainer before 2.3 replaced the runtime's resources by resourcesPerNode as a whole.
        version = self.plan.version("trainer")
        return version is None or version_key(version) >= (2, 3)

    def _work(self, job: TrainJob) -> Work:
        runtime, queue = self.plan.runtime(job), self._queue(job)
        # A patch of a job that the runtime does not have is refused (verify tells): what would run is unknown.
        known = runtime is not None and all(runtime.job(each.job) for each in job.patches)
        pod = effective_pod(job, runtime, merge_resources=self._merge_resources) if runtime and known else None
        main = pod.container("node") if pod else None
        asks = {**main.requests, **main.limits} if main else {**job.requests, **job.limits}
        selector: dict[str, str] = dict(pod.node_selector) if pod else {}
        if pod is None:
            for patch in job.patches:
                selector.update(patch.pod.node_selector)
        choices = self._choices(job, selector, queue, asks, pod)
        pools = tuple({each.name: each for choice in choices for each in choice.pools}.values())
        key = tuple(map(id, pools))
        types = self._pool_types.get(key)
        if types is None:
            sets = [self.types(each) for each in pools]
            types = self._pool_types[key] = tuple({t.name: t for ts in sets for t in ts}.values()) if all(sets) else ()
        env = main.env if main else job.env
        return Work(
            job=job, runtime=runtime, pod=pod, main=main, asks=asks, pools=pools, types=types, queue=queue,
            nodes=_nodes(job, runtime), env={each.name: each.value for each in env}, choices=choices,
            words=(*main.command, *main.args) if main else (*job.command, *job.args),
        )

    def _queue(self, job: TrainJob) -> ClusterQueue | None:
        """The ClusterQueue of a job; one without a queue goes to the LocalQueue ``default`` (kueue v0.19.2)."""
        if job.queue is not None:
            return self.plan.queue_of(job)
        local = self.plan.local_queue(job.namespace, "default") if job.namespace else None
        return self.plan.cluster_queue(local.cluster_queue) if local else None

    def _choices(
        self, job: TrainJob, selector: Mapping[str, str], queue: ClusterQueue | None, asks: Resources, pod: Pod | None
    ) -> tuple[Choice, ...]:
        reach = pod.tolerations if pod else None
        if job.queue is not None and queue is None:
            reach = None  # flavors of a queue that is elsewhere may add tolerations
            if self.plan.cluster_queues and not self._pins(selector):
                return ()  # and lead to pools that are elsewhere
        key = (tuple(sorted(selector.items())), queue.name if queue else "", tuple(sorted(asks)), reach)
        found = self._candidates.get(key)
        if found is None:
            found = self._candidates[key] = find_choices(self, selector, queue, asks, reach)
        return found

    def _pins(self, selector: Mapping[str, str]) -> bool:
        """Whether a node selector names some pool of the set for certain."""
        return any(self.has_label(pool, key, value) for pool in self.pools for key, value in selector.items())

    # -- queues

    def borrowable(self, queue: ClusterQueue, flavor: str, resource: str) -> Quantity | None:
        """The most of a resource that a queue can ever get in a flavor; ``None`` if other queues may add to it."""
        own = _quota(queue, flavor, resource)
        if own is None:
            return None
        if queue.cohort is None:
            return own.nominal
        if own.borrowing is not None:
            return own.nominal + own.borrowing
        if not self.plan.closed:
            return None
        others = [_quota(each, flavor, resource) for each in self.plan.cluster_queues
                  if each is not queue and self.root(each.cohort) == self.root(queue.cohort)]
        lent = sum((min(each.nominal, each.lending) if each.lending is not None else each.nominal).milli
                   for each in others if each is not None)
        return Quantity(own.nominal.milli + lent)

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
        return {each.name: each.parent for each in self.plan.cohorts}

    # -- delivery

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The file of each manifest, by its id."""
        return {each.id: each.path.replace("\\", "/") for each in self.manifests}

    def carries(self, folder: str, node: PlanNode) -> bool:
        """Whether a Kustomization over a folder of the repository carries an object. Where files are unknown, every
        one may."""
        file = self.paths.get(str(node.at[0]), "") if node.at else ""
        parts = "/".join(each for each in folder.split("/") if each not in ("", "."))
        return not file or not parts or f"/{parts}/" in f"/{file}" or file.startswith(f"{parts.rpartition('/')[2]}/")

    def releases(self, *charts: str) -> list[HelmRelease]:
        """The Helm releases of some charts."""
        return [each for each in self.plan.releases if each.chart in charts]


def _nodes(job: TrainJob, runtime: Runtime | None) -> int | None:
    if job.nodes is not None or "nodes" in job.unread:
        return job.nodes
    return None if runtime is None or "nodes" in runtime.unread else runtime.nodes or 1


def _quota(queue: ClusterQueue, flavor: str, resource: str) -> Quota | None:
    for each in queue.flavors():
        if each.flavor == flavor and (found := each.of(resource)) is not None:
            return found
    return None


def value(values: Any, *path: str) -> Any:
    """A value deep in Helm values, or ``None``."""
    for key in path:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def tolerations(values: Any) -> tuple[Toleration, ...]:
    """Tolerations as written in Helm values."""
    found = values if isinstance(values, list | tuple) else ()
    return tuple(
        Toleration(str(each.get("key", "")), str(each.get("operator", "Equal")), str(each.get("value", "")),
                   str(each.get("effect", "")))
        for each in found if isinstance(each, Mapping)
    )


def options(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The long options of a command and of the shell lines in it: name (with ``-`` for ``_``) and value."""
    parts = [part for word in words for part in (word.split() if " " in word or "\n" in word else (word,))]
    for index, part in enumerate(parts):
        if part.startswith("--") and len(part) > 2:
            name, equals, given = part[2:].partition("=")
            after = parts[index + 1] if index + 1 < len(parts) else "-"
            yield name.replace("_", "-"), given.strip("\"'") if equals else None if after.startswith("-") else after


def launches(words: Sequence[str]) -> bool:
    """Whether a command starts torchrun."""
    return any(name in word for word in words for name in ("torchrun", "torch.distributed.run"))


__all__ = ["RESERVATION_TYPE", "Work", "World", "launches", "options", "tolerations", "value"]
