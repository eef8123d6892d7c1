"""The cluster itself: what eksctl and the steps before it create."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from trainyard.core.cloud.plan import RegionalCluster, TerraformState
from trainyard.eks.cluster.account import Account
from trainyard.eks.network.plan import Network
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.base import ROOT, PlanItem


@dataclass(frozen=True, slots=True)
class Addon:
    """An EKS add-on. ``version`` ``None`` is EKS' default; ``values`` is the add-on's configuration, ``rights`` are
    statements of its role's inline policy, in addition to the managed ones."""

    name: str
    version: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    service_account: tuple[str, str] | None = None
    policy_arns: tuple[str, ...] = ()
    rights: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class PodIdentity:
    """A pod identity association: a service account, and the managed policies of its role or the role's ARN."""

    namespace: str
    service_account: str
    policy_arns: tuple[str, ...] = ()
    role_arn: str | None = None


@dataclass(frozen=True, slots=True)
class AccessEntry:
    """Who may enter the cluster: an IAM principal, as a node role (``EC2_LINUX``), with an access policy, or as a
    member of Kubernetes groups. ``at``: where the spec names it first."""

    principal: str
    type: str = "STANDARD"
    policy: str | None = None
    groups: tuple[str, ...] = ()
    at: Route = field(default=ROOT, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster(RegionalCluster):
    """eksctl.io/v1alpha5 ClusterConfig. ``auto_pools`` and ``auto_node_role`` are those of EKS Auto Mode: its own node
    pools, ``None`` where they are left to eksctl, and the ARN of the role of all nodes. ``log_days``: how long the log
    of the control plane is kept; ``None`` is for ever."""

    single: ClassVar[bool] = True

    kubernetes: str
    network: Network
    tags: Mapping[str, str] = field(default_factory=dict)
    addons: tuple[Addon, ...] = ()
    pod_identities: tuple[PodIdentity, ...] = ()
    access: tuple[AccessEntry, ...] = ()
    node_groups: tuple[NodeGroup, ...] = ()
    auto_mode: bool | None = False
    auto_pools: tuple[str, ...] | None = None
    auto_node_role: str | None = None
    log_types: tuple[str, ...] = ()
    log_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementGroup(PlanItem):
    """An EC2 placement group of a pool. Karpenter does not create it, so a step of the bootstrap does."""

    name: str
    pool: str
    strategy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap(PlanItem):
    """What must exist before Flux can work, made by people or CI: IAM, queue, placement groups, cluster, Flux.

    ``queue``: properties of the interruption queue, and its ``policy``. ``access``: who may enter the cluster, in
    addition to its nodes; each by a stack of its own. ``instance_profile``: one of the nodes' role, where Karpenter
    makes none.
    ``drivers``: pod identities of add-ons that only some clusters have. ``zones``: all that the Region has.
    ``terraform``: the state of its modules, where Terraform makes what CloudFormation does else. ``auto_mode``: EKS
    Auto Mode runs the nodes. ``karpenter``: its controller does, so that it has a role and a queue.
    ``own_nodes``: the folder with the scripts of a service that makes the nodes of pools.
    """

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    region: str
    partition: str
    account: str
    node_role: str
    interruption_queue: str
    instance_profile: str | None = None
    queue: Mapping[str, Any] = field(default_factory=dict)
    controller_role: str = ""
    controller_trust: Mapping[str, object] = field(default_factory=dict)
    bucket_trust: Mapping[str, object] = field(default_factory=dict)
    controller_policies: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    node_policies: tuple[str, ...] = ()
    interruption_rules: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    bucket_role: str = ""
    reads_buckets: bool = False
    """Whether anything mounts a bucket."""
    access: tuple[AccessEntry, ...] = ()
    drivers: tuple[PodIdentity, ...] = ()
    zones: tuple[str, ...] = ()
    auto_mode: bool = False
    karpenter: bool = True
    own_nodes: str = ""
    placement_groups: tuple[PlacementGroup, ...] = ()
    eksctl_version: str = ""
    flux_version: str = ""
    flux_source: str = ""
    flux_secret: str | None = None
    flux_folder: str = ""
    repository: str | None = None
    branch: str = "main"
    path: str = ""
    needs: Account = Account()
    terraform: TerraformState | None = None
