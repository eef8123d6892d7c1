"""Nodes: Karpenter node classes and pools, and eksctl managed node groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from trainyard.core.launch.plan import BlockDevice, Launch
from trainyard.core.pools.plan import Pool
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.base import PlanItem
from trainyard.plan.scheduling import POOL_LABEL, Requirement, Taint

BLOCK_ENDS = "trainyard.dev/capacity-block-ends"
"""The annotation of a node class that says when its Capacity Block ends."""


@dataclass(frozen=True, slots=True)
class SelectorTerm:
    """One term of an EC2NodeClass selector: by id or by tags."""

    id: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """What nodes do when they boot, apart from joining the cluster.

    ``mig`` are the profiles into which each GPU is cut, one for each slice. ``locked_memory``: containers may lock as
    much memory as they like. ``lustre_settings``: the client of Lustre is set up for large nodes; ``lustre_efa``: it
    talks over EFA.
    """

    mig: tuple[str, ...] = ()
    locked_memory: bool = False
    lustre_settings: bool = False
    lustre_efa: bool = False

    @property
    def runs(self) -> bool:
        """Whether it does anything."""
        return bool(self.mig or self.locked_memory or self.lustre_settings or self.lustre_efa)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeClass(Launch):
    """How nodes of a pool are launched: an EC2NodeClass, or a NodeClass of EKS Auto Mode.

    ``own_kubelet``: it configures the kubelet, or the system by user data (``user_data``). ``boot`` is what its user
    data does. ``prune`` off keeps it when it leaves git. ``role`` or ``instance_profile``: Karpenter makes a profile of
    the one, and takes the other as it is.
    """

    called: ClassVar[str] = "node class"

    ami_family: str | None = None
    ami_alias: str | None = None
    role: str | None = None
    subnets: tuple[SelectorTerm, ...] = ()
    security_groups: tuple[SelectorTerm, ...] = ()
    reservations: tuple[SelectorTerm, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    own_kubelet: bool = False
    user_data: bool = False
    boot: Boot = Boot()
    prune: bool = True

    @property
    def efa(self) -> int:
        """EFA devices that ``networkInterfaces`` fixes; 0 leaves the count to Karpenter."""
        return sum(interface.type != "interface" for interface in self.interfaces)


@dataclass(frozen=True, slots=True, kw_only=True)
class EC2NodeClass(NodeClass):
    """karpenter.k8s.aws/v1 EC2NodeClass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoNodeClass(NodeClass):
    """eks.amazonaws.com/v1 NodeClass, of EKS Auto Mode: it chooses no image, no user data and no use of NVMe disks.

    ``ephemeral``: what pods, images and logs lie on, where no NVMe disks take its place. ``prefixes``: blocks of 16
    addresses of pods on the first interface, where ``interfaces`` says all of them (EKS user guide,
    device-management-efa, commit 43d79bdb).
    """

    ephemeral: BlockDevice | None = None
    prefixes: int | None = None
    snat_policy: str | None = None
    network_policy: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """A disruption budget: how many nodes (``"1"`` or ``"10%"``), for which reasons (all if empty), and from when by
    turns (a cron schedule; always if empty)."""

    nodes: str
    reasons: tuple[str, ...] = ()
    schedule: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePool(Pool):
    """karpenter.sh/v1 NodePool. ``replicas`` makes it static; ``limits`` are totals over all its nodes.

    ``prune`` off keeps it, and so its nodes, when it leaves git. ``auto``: EKS Auto Mode launches its nodes, and
    ``node_class`` is one of its own kind.
    """

    node_class: str
    auto: bool = False
    startup_taints: tuple[Taint, ...] = ()
    consolidation: str | None = None
    consolidate_after: str | None = None
    budgets: tuple[Budget, ...] = ()
    expire_after: str | None = None
    termination_grace: str | None = None
    prune: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOverlay(PlanItem):
    """karpenter.sh/v1alpha1 NodeOverlay: resources that nodes have and EC2 does not report. Behind a gate.

    Huge pages among them leave so much less memory (karpenter v1.14, InstanceType's allocatable).
    """

    name: str
    requirements: tuple[Requirement, ...] = ()
    capacity: Mapping[str, Quantity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup(Launch):
    """eksctl.io/v1alpha5 managedNodeGroups[], or where not ``managed`` nodeGroups[].

    The latter are read of third parties' files and never written: their fields differ (eksctl v0.230.0, schema.json).
    Those of a pool stand by themselves in the plan, each in a file of its own; others are those of their ``Cluster``.

    ``own_kubelet``: it configures the kubelet, or the system by commands or a launch template of its own.
    ``ami_release``: the release of the EKS optimized image, like ``1.35.6-20260714``. ``local_storage``: the strategy
    for NVMe disks that its NodeConfig says. ``volume`` is in GiB, ``volume_throughput`` in MiB/s. ``repair_config`` is
    eksctl's ``nodeRepairConfig``, of which ``repair`` is the switch. ``boot`` is what its commands do.
    ``startup_taints``: those that an agent takes off each node once it is ready there; ``tags`` of AWS.
    """

    called: ClassVar[str] = "node group"

    zones: tuple[str, ...] = ()
    min_size: int | None = None
    max_size: int | None = None
    desired: int | None = None
    ami_family: str | None = None
    ami_release: str | None = None
    private: bool | None = None
    volume: int | None = None
    encrypted: bool | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    efa: bool = False
    repair: bool | None = None
    managed: bool = True
    own_kubelet: bool = False
    spot: bool = False
    volume_iops: int | None = None
    volume_throughput: int | None = None
    security_groups: tuple[str, ...] = ()
    local_storage: str = ""
    repair_config: Mapping[str, Any] = field(default_factory=dict)
    boot: Boot = Boot()

    @property
    def title(self) -> str:
        """What people call it: by the name of its pool, where it is one of a spec."""
        return self.labels.get(POOL_LABEL, self.name)


__all__ = [
    "AutoNodeClass",
    "Budget",
    "NodeClass",
    "NodeGroup",
    "NodeOverlay",
    "NodePool",
    "SelectorTerm",
]
