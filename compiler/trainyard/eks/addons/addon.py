"""The record of an add-on: everything that the compiler knows of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from trainyard.catalog import InstanceType
from trainyard.catalog.managed_policies import arn_of
from trainyard.eks.flux.plan import AwaitedValue
from trainyard.eks.kueue.plan import QueueManager
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context
from trainyard.plan.scheduling import Taint

HELM = "helm"
"""Installed by a HelmRelease, which Flux applies."""
EKS = "eks"
"""An EKS add-on, which eksctl installs."""
OWN = "own"
"""An EKS add-on that only the spec asks for, which eksctl installs; EKS says which build, unless the spec does."""
KUSTOMIZE = "kustomize"
"""Installed by a Kustomization over a folder of upstream's repository, which has no chart."""
MANIFESTS = "manifests"
"""Objects that the compiler writes itself, from a module of ``targets``."""
BOOTSTRAP = "bootstrap"
"""Installed once, by a command of the bootstrap."""

OURS = "set by Trainyard"
CRDS, CONTROLLERS = "crds", "controllers"

EVERYWHERE = [{"operator": "Exists"}]
"""Agents tolerate all taints: a list of taints would change with each new pool."""


def on_every_node(instance: InstanceType) -> bool:
    """Nodes of every type."""
    return True


def on_gpus(instance: InstanceType) -> bool:
    """Nodes with NVIDIA GPUs."""
    return bool(instance.gpus)


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a DaemonSet's pod: its requests (milli-CPU, MiB), and where values have them, as paths. What the
    first path lacks stands at the next one (Helm's ``default``)."""

    cpu: int
    memory: int
    resources: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Daemon:
    """A DaemonSet: the requests of one pod (milli-CPU, MiB), the source of the figures, and the nodes that it comes to.

    ``kept``: its share is kept free of every node that it could come to, whether its add-on is wanted or not. So an
    add-on that is switched on later changes no quota, and no job that runs becomes too large for its node.
    ``published``: the requests are those of the pod; else they are only what is kept free for it. ``resources``: where
    its values have these, as a path; empty where no values have them. ``containers``: those whose values have them,
    where there are several.
    """

    name: str
    cpu: int
    memory: int
    source: str
    on: Callable[[InstanceType], bool] = on_every_node
    kept: bool = True
    published: bool = True
    resources: tuple[str, ...] = ()
    containers: tuple[Container, ...] = ()


@dataclass(frozen=True, slots=True)
class Controller:
    """A Deployment on the system's nodes: its pods, and the requests of one (milli-CPU, MiB), with their source.

    ``apart``: no two of its pods share a node. ``resources`` and ``replicas``: where its values have these,
    as paths; empty where no values have them.
    """

    name: str
    pods: int
    cpu: int
    memory: int
    source: str
    apart: bool = False
    resources: tuple[str, ...] = ()
    replicas: tuple[str, ...] = ()


def no_rights(context: Context) -> Sequence[Mapping[str, object]]:
    """No inline policies, only managed ones."""
    return ()


@dataclass(frozen=True, slots=True)
class Role:
    """What an add-on may do in AWS: its service account, and the AWS managed policies by name; ``source`` of them.

    ``own`` is the name of a role that the bootstrap makes for the cluster instead, with ``{}`` for the cluster's name.
    Such a role is bound in every cluster, so that an add-on that is wanted later finds it. ``rights``: statements of a
    policy, in addition to the managed ones, that follow from the spec; only for EKS add-ons.
    """

    namespace: str
    service_account: str
    managed: tuple[str, ...] = ()
    own: str = ""
    source: str = ""
    rights: Callable[[Context], Sequence[Mapping[str, object]]] = no_rights

    def policy_arns(self, partition: str) -> tuple[str, ...]:
        """The managed policies by ARN."""
        return tuple(arn_of(name, partition) for name in self.managed)

    def named(self, cluster: str) -> str:
        """The name of the cluster's own role."""
        return self.own.format(cluster)


@dataclass(frozen=True, slots=True)
class Setting:
    """What values are made from: the spec under resolution, and the configuration of the queue manager."""

    context: Context
    manager: QueueManager


def always(context: Context) -> bool:
    """Every cluster has it."""
    return True


def no_values(setting: Setting) -> Mapping[str, Any]:
    """Nothing that differs from the defaults."""
    return {}


def no_controllers(context: Context) -> tuple[Controller, ...]:
    """No controller whose size follows from the spec."""
    return ()


def no_agents(context: Context) -> tuple[Daemon, ...]:
    """No DaemonSet that only some clusters with the add-on have."""
    return ()


def nothing_awaited(context: Context) -> tuple[AwaitedValue, ...]:
    """All values are known when the spec is compiled."""
    return ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An interface endpoint that a cluster without a way to the internet needs: its service, why, and the source."""

    service: str
    why: str
    source: str


def no_endpoints(context: Context) -> tuple[Endpoint, ...]:
    """Nothing of AWS that it calls through an endpoint of its own."""
    return ()


def asks_no_jobs(context: Context) -> Mapping[str, str]:
    """No pods that ask those of jobs."""
    return {}


def no_taints(context: Context) -> tuple[Taint, ...]:
    """Nothing that keeps pods away from a new node."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AddOn:
    """A component of the cluster that is not a job.

    ``component`` is its file in the release: version, chart, image, build, CRDs. ``by`` says who installs it
    (``HELM``, ``KUSTOMIZE``, ``EKS``, ``OWN``, ``MANIFESTS``, ``BOOTSTRAP``), ``wanted`` when, and ``at`` is the
    place in the spec that asks for it. ``values`` are those of its chart, or the configuration of an EKS add-on;
    ``keys`` are those of them, as paths, that one key of the spec decides, and ``reach`` is the one that lets its
    agents come to tainted nodes. ``after`` names components
    that are installed before it. ``stage`` is the Kustomization that carries it. ``crds_of`` names the component
    whose chart carries its CRDs, where its own does not. ``agents`` are DaemonSets, and ``sized`` controllers, that
    follow from the spec. ``stays``: Flux never deletes it. ``awaited`` are values of its chart that are known when
    the bootstrap has run. ``budget``: labels of the pods of which one always stays, where the chart makes no
    PodDisruptionBudget. ``patches``: texts of YAML that are merged into upstream's manifests. ``in_auto_mode``: EKS
    Auto Mode includes it, on the nodes or with the control plane. ``startup_taints``: what new nodes of pools have
    until its agent on them has taken it away. ``needs``: components that are installed where it is. ``endpoints`` are
    those of AWS that it calls. ``asks_jobs``: labels of its pods that ask those of jobs, on ports of their choice.
    """

    component: str
    by: str = HELM
    wanted: Callable[[Context], bool] = always
    at: Route = SPEC / "nodePools"
    values: Callable[[Setting], Mapping[str, Any]] = no_values
    awaited: Callable[[Context], tuple[AwaitedValue, ...]] = nothing_awaited
    keys: Mapping[tuple[str, ...], Route] = field(default_factory=dict)
    reach: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    stage: str = CONTROLLERS
    crds_of: str = ""
    stays: bool = False
    daemons: tuple[Daemon, ...] = ()
    agents: Callable[[Context], tuple[Daemon, ...]] = no_agents
    controllers: tuple[Controller, ...] = ()
    sized: Callable[[Context], tuple[Controller, ...]] = no_controllers
    role: Role | None = None
    budget: Mapping[str, str] = field(default_factory=dict)
    patches: tuple[str, ...] = ()
    in_auto_mode: bool = False
    startup_taints: Callable[[Context], tuple[Taint, ...]] = no_taints
    needs: tuple[str, ...] = ()
    endpoints: Callable[[Context], tuple[Endpoint, ...]] = no_endpoints
    asks_jobs: Callable[[Context], Mapping[str, str]] = asks_no_jobs

    def runs(self, context: Context) -> bool:
        """Whether the cluster installs it: where it is wanted, and EKS Auto Mode does not bring it by itself.

        One that the release does not have is reported (RES270), and not installed.
        """
        return self.is_released(context) and self.lacks(context)

    def is_released(self, context: Context) -> bool:
        """Whether the release has it, or need not."""
        return self.by == OWN or self.component in context.release.components

    def lacks(self, context: Context) -> bool:
        """Whether the cluster needs it, even if its release lacks it."""
        return self.is_ours(context) and self.wanted(context)

    def is_ours(self, context: Context) -> bool:
        """Whether neither EKS Auto Mode nor a platform that stands on EKS has it, or something else, by itself."""
        if self.component in context.platform.without:
            return False
        return not (self.in_auto_mode and ClusterSection.of(context.spec).auto_mode)
