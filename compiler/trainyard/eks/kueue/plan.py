"""Queues: Kueue flavors, quotas, cohorts, topologies, priorities and the manager's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from itertools import chain
from typing import ClassVar, NamedTuple

from trainyard.core.queues.plan import FlavorQuotas, Queue, ResourceGroup
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Duration, Quantity
from trainyard.plan.base import LATER, PlanItem
from trainyard.plan.plan import Plan
from trainyard.plan.scheduling import Taint, Toleration

STOPS = frozenset({"Hold", "HoldAndDrain"})
"""The stop policies of a queue that admit nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology(PlanItem):
    """kueue.x-k8s.io/v1beta2 Topology: node label keys, widest level first."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flavor(PlanItem):
    """kueue.x-k8s.io/v1beta2 ResourceFlavor."""

    name: str
    node_labels: Mapping[str, str] = field(default_factory=dict)
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemption(PlanItem):
    """spec.preemption of a ClusterQueue."""

    within: str = "Never"
    reclaim: str = "Never"
    borrow_within_cohort: str = "Never"
    max_priority_threshold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorFungibility(PlanItem):
    """spec.flavorFungibility of a ClusterQueue: whether the next flavor is tried before borrowing or preempting."""

    when_can_borrow: str = "MayStopSearch"
    when_can_preempt: str = "TryNextFlavor"
    preference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueue(Queue):
    """kueue.x-k8s.io/v1beta2 ClusterQueue.

    ``namespace_selector``: ``None`` matches no namespace at all, ``{}`` every one; else the label
    ``kubernetes.io/metadata.name`` and its values, or other labels. ``namespaces_excluded``: labels with values that
    a namespace must not have. The order of a group's flavors is the order in which Kueue tries them. ``weight``:
    ``None`` is Kueue's, 1.
    """

    namespace_selector: Mapping[str, tuple[str, ...]] | None = None
    namespaces_excluded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    strategy: str = "BestEffortFIFO"
    preemption: Preemption = Preemption()
    fungibility: FlavorFungibility | None = None
    weight: Quantity | None = None
    stop_policy: str = "None"

    @property
    def stopped(self) -> bool:
        """Whether nothing is admitted through it."""
        return self.stop_policy in STOPS


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort(PlanItem):
    """kueue.x-k8s.io/v1beta2 Cohort. ``groups`` are quotas of its own, for all its members."""

    name: str
    parent: str | None = None
    weight: Quantity | None = None
    groups: tuple[ResourceGroup, ...] = ()

    def flavors(self) -> tuple[FlavorQuotas, ...]:
        """All flavors of all groups."""
        groups = (group.flavors for group in self.groups)
        return tuple(chain.from_iterable(groups))


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalQueue(PlanItem):
    """kueue.x-k8s.io/v1beta2 LocalQueue."""

    name: str
    namespace: str
    cluster_queue: str
    stop_policy: str = "None"

    @property
    def stopped(self) -> bool:
        """Whether nothing is admitted through it."""
        return self.stop_policy in STOPS


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPriority(PlanItem):
    """kueue.x-k8s.io/v1beta2 WorkloadPriorityClass."""

    name: str
    value: int
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueManager(PlanItem):
    """config.kueue.x-k8s.io/v1beta2 Configuration, as far as it is judged.

    ``pods_ready``: how long all pods of an admitted job may take to be ready before it is evicted. ``transformed``:
    resources that are counted as others. ``preemption_strategies``: those of fair sharing, in their order.
    ``external_frameworks``: kinds whose own controllers make the workloads.
    """

    single: ClassVar[bool] = True

    pods_ready: Duration | None
    recovery: Duration | None
    frameworks: tuple[str, ...] = ()
    external_frameworks: tuple[str, ...] = field(default=(), metadata=LATER)
    requeue_backoff: Duration | None = None
    requeue_limit: int | None = None
    excluded_prefixes: tuple[str, ...] = ()
    ignore_undeclared: bool = False
    fair_sharing: bool = False
    preemption_strategies: tuple[str, ...] = ()
    transformed: tuple[str, ...] = ()


INTEGRATIONS = (
    *("batch/job", "deployment", "jobset.x-k8s.io/jobset", "kubeflow.org/jaxjob"),
    *("kubeflow.org/mpijob", "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob"),
    *("kubeflow.org/tfjob", "kubeflow.org/xgboostjob"),
    *("leaderworkerset.x-k8s.io/leaderworkerset", "pod", "ray.io/raycluster", "ray.io/rayjob"),
    *("ray.io/rayservice", "sparkoperator.k8s.io/sparkapplication", "statefulset"),
    *("trainer.kubeflow.org/trainjob", "workload.codeflare.dev/appwrapper"),
)
"""What ``integrations.frameworks`` may name (kueue v0.19.2, FrameworkName of each package of pkg/controller/jobs)."""


def integration_of(api_version: str, kind: str) -> str | None:
    """What Kueue calls a kind; ``None`` for one that it has no integration for."""
    name = kind.lower()
    group = api_version.rpartition("/")[0]
    if group not in ("", "apps"):
        name = f"{group}/{name}"
    return name if name in INTEGRATIONS else None


class Gate(NamedTuple):
    """The feature gate of an integration that is off by default, and the minor version that it came with."""

    name: str
    since: tuple[int, int]


GATES = {"sparkoperator.k8s.io/sparkapplication": Gate("SparkApplicationIntegration", (0, 17))}
"""Without its gate Kueue does not start with such an integration (kueue v0.19.2, pkg/features/kube_features.go and
CanSupportIntegration of pkg/controller/jobs/sparkapplication)."""


def queue_of(plan: Plan, name: str | None, namespace: str) -> ClusterQueue | None:
    """The ClusterQueue that a job is admitted by, through the LocalQueue of its namespace that it names."""
    local = plan.named(LocalQueue, name, namespace)
    if local:
        return plan.named(ClusterQueue, local.cluster_queue)
    return None
