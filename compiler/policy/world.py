"""What rules see beside their own node: the plan, the facts, and the joins that many rules need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from compiler.catalog import Catalog, InstanceType, version_key
from compiler.manifest import Manifest
from compiler.plan import Plan, Quantity
from compiler.plan.delivery import HelmRelease
from compiler.plan.jobs import Resources, Runtime, TrainJob, effective_pod
from compiler.plan.nodes import (
    ARCH,
    INSTANCE_TYPE,
    NODEPOOL_LABEL,
    ZONE,
    NodeClass,
    NodePool,
    Toleration,
)
from compiler.plan.queues import ClusterQueue, Flavor, Quota
from compiler.policy.rule import NO_PARAMS
from compiler.policy.work import Work

FAMILY = "karpenter.k8s.aws/instance-family"
SIZE = "karpenter.k8s.aws/instance-size"
GPU_COUNT = "karpenter.k8s.aws/instance-gpu-count"
RESERVATION_TYPE = "karpenter.k8s.aws/capacity-reservation-type"
# Label domains that kubelet, Karpenter, EKS or feature discovery write by themselves: what a pool does not say about
# them is unknown. Every other label is on a node only if its pool sets it.
_WRITTEN_BY_OTHERS = (
    "kubernetes.io", "k8s.io", "karpenter.sh", "k8s.aws", "amazonaws.com", "nvidia.com", "intel.com", "eksctl.io",
)


class World:
    """The plan and the catalog as rules see them. Joins are made on first use and kept.

    Three-valued throughout: ``None`` or () is unknown, and a rule that meets it stays silent.
    """

    def __init__(self, plan: Plan, catalog: Catalog, manifests: Sequence[Manifest] = ()) -> None:
        self.plan = plan
        self.catalog = catalog
        self.manifests = manifests
        self.params: Mapping[str, Any] = NO_PARAMS
        self.rooms: dict[tuple[str, bool], tuple[int, int, tuple[str, ...]]] = {}
        self._types: dict[int, tuple[InstanceType, ...]] = {}
        self._candidates: dict[object, tuple[tuple[NodePool, ...], bool]] = {}
        self._pool_types: dict[tuple[str, ...], tuple[InstanceType, ...]] = {}

    def param(self, name: str) -> Any:
        """The value of a parameter of the rule that is running."""
        return self.params[name]

    # -- nodes

    def types(self, pool: NodePool) -> tuple[InstanceType, ...]:
        """The instance types that a pool may launch; () where the facts do not tell all of them."""
        found = self._types.get(id(pool))
        if found is None:
            found = self._types[id(pool)] = tuple(self._find_types(pool))
        return found

    def _find_types(self, pool: NodePool) -> list[InstanceType]:
        names: Sequence[str] | None = pool.instance_types
        if names is None:
            families, sizes = pool.values(FAMILY), pool.values(SIZE)
            known = self.catalog.instance_types
            names = [name for name in known if families and name.partition(".")[0] in families]
            if families and {name.partition(".")[0] for name in names} != set(families):
                return []
            names = [name for name in names if sizes is None or name.partition(".")[2] in sizes]
        without = {v for each in pool.requirements if each.key == INSTANCE_TYPE and each.operator == "NotIn"
                   for v in each.values}
        counts = pool.values(GPU_COUNT)
        found = [self.catalog.instance(name) for name in names if name not in without]
        if any(each is None for each in found):
            return []
        return [each for each in found if each is not None and (counts is None or str(each.gpus) in counts)]

    def node_class(self, pool: NodePool) -> NodeClass | None:
        """The EC2NodeClass of a pool."""
        return self.plan.node_class(pool.node_class)

    def pools_of_class(self, node_class: NodeClass) -> list[NodePool]:
        """The pools that launch by a node class."""
        return [each for each in self.plan.node_pools if each.node_class == node_class.name]

    def accelerated(self, pool: NodePool) -> bool:
        """Whether every type of a pool is known to have accelerators."""
        types = self.types(pool)
        return bool(types) and all(each.accelerators for each in types)

    def efa_of(self, pool: NodePool, instance: InstanceType) -> int:
        """EFA devices of a pool's node of a type: those of ``networkInterfaces``, or else all of the type."""
        node_class = self.node_class(pool)
        return node_class.efa if node_class is not None and node_class.interfaces else instance.efa_interfaces

    def most_nodes(self, pool: NodePool, instance: InstanceType) -> int | None:
        """Nodes of a type that a pool's replicas and limits allow; ``None`` without any that is known."""
        per_node = {"nodes": 1000, "cpu": instance.vcpus * 1000, "memory": instance.memory_mib * 1024**2 * 1000}
        if instance.accelerator_resource:
            per_node[instance.accelerator_resource] = instance.accelerators * 1000
        found = [limit.milli // per_node[name] for name, limit in pool.limits.items() if per_node.get(name)]
        if pool.replicas is not None:
            found.append(pool.replicas)
        return min(found) if found else None

    def block(self, pool: NodePool) -> bool:
        """Whether a pool launches into Capacity Blocks only."""
        return pool.values(RESERVATION_TYPE) == ("capacity-block",)

    @property
    def region(self) -> str | None:
        """The region of the cluster, where the set says it."""
        return self.plan.cluster.region if self.plan.cluster else None

    def has_label(self, pool: NodePool, key: str, value: str) -> bool | None:
        """Whether nodes of a pool carry a label; ``None`` if that cannot be told."""
        if key == NODEPOOL_LABEL:
            return pool.name == value
        allowed = pool.values(key)
        if allowed is not None:
            return value in allowed
        types = self.types(pool) if key in (INSTANCE_TYPE, FAMILY, SIZE, ARCH) else ()
        if types:
            facts = {INSTANCE_TYPE: "name", FAMILY: "family", SIZE: "size", ARCH: "arch"}
            return any(getattr(each, facts[key]) == value for each in types)
        if any(each.key == key for each in pool.requirements):
            return None
        domain = key.rpartition("/")[0]
        return None if domain and domain.endswith(_WRITTEN_BY_OTHERS) else False

    def may_match(self, pool: NodePool, labels: Mapping[str, str]) -> bool:
        """Whether nodes of a pool may carry all labels: nothing says that they do not."""
        return all(self.has_label(pool, key, value) is not False for key, value in labels.items())

    def pools_of(self, flavor: Flavor) -> list[NodePool]:
        """The pools whose nodes may belong to a flavor."""
        return [each for each in self.plan.node_pools if self.may_match(each, flavor.node_labels)]

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
        runtime, queue = self.plan.runtime(job), self.plan.queue_of(job)
        pod = effective_pod(job, runtime, merge_resources=self._merge_resources) if runtime else None
        main = pod.container("node") if pod else None
        asks = {**main.requests, **main.limits} if main else {**job.requests, **job.limits}
        selector: dict[str, str] = dict(pod.node_selector) if pod else {}
        if pod is None:
            for patch in job.patches:
                selector.update(patch.pod.node_selector)
        pools = self._pools(selector, queue, asks)
        key = tuple(each.name for each in pools)
        types = self._pool_types.get(key)
        if types is None:
            sets = [self.types(each) for each in pools]
            types = self._pool_types[key] = tuple({t.name: t for ts in sets for t in ts}.values()) if all(sets) else ()
        env = main.env if main else job.env
        return Work(
            job=job, runtime=runtime, pod=pod, main=main, asks=asks, pools=pools, types=types, queue=queue,
            nodes=job.nodes if job.nodes is not None else (runtime.nodes or 1) if runtime else None,
            env={each.name: each.value for each in env},
            words=(*main.command, *main.args) if main else (*job.command, *job.args),
        )

    def _pools(self, selector: Mapping[str, str], queue: ClusterQueue | None, asks: Resources) -> tuple[NodePool, ...]:
        key = (tuple(sorted(selector.items())), queue.name if queue else "")
        found = self._candidates.get(key)
        if found is None:
            found = self._candidates[key] = self._find_pools(selector, queue)
        pools, pinned = found
        if pinned or len(pools) == 0:
            return pools
        # Without a pin, a job that asks for a device belongs to pools that have it; none in the set is unknown.
        for resource in ("nvidia.com/gpu", "aws.amazon.com/neuron"):
            if resource in asks:
                return tuple(each for each in pools if any(
                    t.accelerator_resource == resource for t in self.types(each)) or not self.types(each))
        return pools

    def _find_pools(
        self, selector: Mapping[str, str], queue: ClusterQueue | None
    ) -> tuple[tuple[NodePool, ...], bool]:
        pools = [each for each in self.plan.node_pools if self.may_match(each, selector)]
        if NODEPOOL_LABEL in selector:
            return tuple(pools), True
        flavors = [self.plan.flavor(each.flavor) for each in queue.flavors()] if queue else []
        if flavors and all(each is not None for each in flavors):
            reached = {id(pool) for each in flavors if each is not None for pool in self.pools_of(each)}
            pools = [each for each in pools if id(each) in reached]
        return tuple(pools), INSTANCE_TYPE in selector and bool(pools)

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

    def releases(self, *charts: str) -> list[HelmRelease]:
        """The Helm releases of some charts."""
        return [each for each in self.plan.releases if each.chart in charts]


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


__all__ = ["FAMILY", "RESERVATION_TYPE", "SIZE", "ZONE", "Work", "World", "launches", "options", "tolerations", "value"]
