"""The plan: everything that will exist, bound and typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from compiler.plan.base import PlanNode
from compiler.plan.cloud import CloudResource
from compiler.plan.cluster import Bootstrap, Cluster
from compiler.plan.delivery import GitSource, HelmRelease, HelmSource, Stage
from compiler.plan.health import ConditionTainter, ProblemDetector
from compiler.plan.jobs import Runtime, TrainJob
from compiler.plan.nodes import NodeClass, NodeOverlay, NodePool
from compiler.plan.platform import (
    Access,
    DisruptionBudget,
    Namespace,
    NetworkPolicy,
    PodPriority,
    ResourceQuota,
    ServiceAccount,
)
from compiler.plan.queues import (
    ClusterQueue,
    Cohort,
    Flavor,
    LocalQueue,
    QueueManager,
    Topology,
    WorkloadPriority,
)
from compiler.plan.storage import PersistentVolume, VolumeClaim
from compiler.plan.units import Quantity
from compiler.plan.workloads import Workload
from compiler.source import Route


@dataclass(frozen=True, slots=True)
class Derived:
    """A value that the compiler derives: of which object and field, why, and where the rule comes from.

    ``at`` is the place in the spec of one that the spec sets instead, or of the value that it follows from.
    """

    object: str
    field: str
    value: str
    reason: str
    source: str = ""
    at: Route | None = None

    @property
    def origin(self) -> str:
        """Where the rule comes from, or the value; a rule without either is our own."""
        return self.source or (str(self.at) if self.at else "default of Trainyard")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that will exist.

    ``closed``: nothing else exists than what is here and in ``external`` (apiVersion, kind, namespace, name of what
    others made; our own output); an open plan was lifted from third-party files, and what is missing from it may
    live elsewhere. ``workloads`` are pods of others, in open plans only. ``cloud`` is what templates make of the
    account; it is lifted alone, and ``bootstrap`` says the same, so it takes no part in equality. ``derived`` and
    ``bootstrap`` are not carried by manifests, so they take no part either; nor do ``shares``, what jobs can get of a
    node by pool and resource, less what DaemonSets take.
    """

    cluster: Cluster | None = None
    node_classes: tuple[NodeClass, ...] = ()
    node_pools: tuple[NodePool, ...] = ()
    node_overlays: tuple[NodeOverlay, ...] = ()
    topologies: tuple[Topology, ...] = ()
    flavors: tuple[Flavor, ...] = ()
    cohorts: tuple[Cohort, ...] = ()
    cluster_queues: tuple[ClusterQueue, ...] = ()
    local_queues: tuple[LocalQueue, ...] = ()
    priorities: tuple[WorkloadPriority, ...] = ()
    queue_manager: QueueManager | None = None
    runtimes: tuple[Runtime, ...] = ()
    jobs: tuple[TrainJob, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    resource_quotas: tuple[ResourceQuota, ...] = ()
    service_accounts: tuple[ServiceAccount, ...] = ()
    access: tuple[Access, ...] = ()
    network_policies: tuple[NetworkPolicy, ...] = ()
    pod_priorities: tuple[PodPriority, ...] = ()
    disruption_budgets: tuple[DisruptionBudget, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()
    claims: tuple[VolumeClaim, ...] = ()
    detectors: tuple[ProblemDetector, ...] = ()
    tainters: tuple[ConditionTainter, ...] = ()
    helm_sources: tuple[HelmSource, ...] = ()
    releases: tuple[HelmRelease, ...] = ()
    git_sources: tuple[GitSource, ...] = ()
    stages: tuple[Stage, ...] = ()
    workloads: tuple[Workload, ...] = ()
    cloud: tuple[CloudResource, ...] = field(default=(), compare=False)
    bootstrap: Bootstrap | None = field(default=None, compare=False)
    derived: tuple[Derived, ...] = field(default=(), compare=False, repr=False)
    external: frozenset[tuple[str, str, str, str]] = field(
        default=frozenset(), compare=False
    )
    versions: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    release: str = field(default="", compare=False)
    shares: Mapping[str, Mapping[str, Quantity]] = field(
        default_factory=dict, compare=False
    )
    closed: bool = field(default=True, compare=False)

    @cached_property
    def _by_name(self) -> dict[type, dict[tuple[str, str], Any]]:
        index: dict[type, dict[tuple[str, str], Any]] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, tuple):
                for node in value:
                    if isinstance(node, PlanNode):
                        key = (
                            getattr(node, "namespace", ""),
                            getattr(node, "name", ""),
                        )
                        index.setdefault(type(node), {})[key] = node
        return index

    def _find(self, kind: type, name: str | None, namespace: str = "") -> Any:
        return self._by_name.get(kind, {}).get((namespace, name)) if name else None

    def node_class(self, name: str | None) -> NodeClass | None:
        """The EC2NodeClass of a name."""
        found: NodeClass | None = self._find(NodeClass, name)
        return found

    def node_pool(self, name: str | None) -> NodePool | None:
        """The NodePool of a name."""
        found: NodePool | None = self._find(NodePool, name)
        return found

    def flavor(self, name: str | None) -> Flavor | None:
        """The ResourceFlavor of a name."""
        found: Flavor | None = self._find(Flavor, name)
        return found

    def cluster_queue(self, name: str | None) -> ClusterQueue | None:
        """The ClusterQueue of a name."""
        found: ClusterQueue | None = self._find(ClusterQueue, name)
        return found

    def local_queue(self, namespace: str, name: str | None) -> LocalQueue | None:
        """The LocalQueue of a name in a namespace."""
        found: LocalQueue | None = self._find(LocalQueue, name, namespace)
        return found

    def runtime(self, job: TrainJob) -> Runtime | None:
        """The runtime that a job refers to."""
        namespace = job.namespace if job.runtime_kind == "TrainingRuntime" else ""
        found: Runtime | None = self._find(Runtime, job.runtime, namespace)
        return found

    def queue_of(self, job: TrainJob) -> ClusterQueue | None:
        """The ClusterQueue that a job is admitted by, through its LocalQueue."""
        local = self.local_queue(job.namespace, job.queue)
        return self.cluster_queue(local.cluster_queue) if local else None

    def version(self, component: str) -> str | None:
        """The version of an upstream component."""
        return dict(self.versions).get(component)
