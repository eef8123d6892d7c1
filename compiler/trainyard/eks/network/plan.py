"""Plan items of the network that the bootstrap creates: a VPC in its own stack, created before the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.base import ROOT, PlanItem

VPC_ID = "${TRAINYARD_VPC}"
"""A placeholder for the id of the VPC in eksctl's file, until ``bootstrap/network.sh`` fills it in."""
NODES_TAG = "trainyard.dev/nodes"
"""The tag by which Karpenter finds the security group of the nodes."""


@dataclass(frozen=True, slots=True)
class MadeSubnet:
    """The subnets of a zone: the blocks of the private one and, where there is a NAT gateway, of the public one."""

    zone: str
    private: str
    public: str | None = None
    at: Route = field(default=ROOT, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySwitch(PlanItem):
    """The ConfigMap by which EKS Auto Mode enforces network policies, which it does not without (EKS user guide,
    auto-net-pol, commit 01385604)."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    name: str = "amazon-vpc-cni"
    namespace: str = "kube-system"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeNetwork(PlanItem):
    """A VPC with its subnets, routes, endpoints and the security group of the nodes, in a CloudFormation stack of its
    own. No manifest carries it.

    ``nat``: ``perZone``, ``single`` or ``none``. ``endpoints``: interface endpoints, by the last part of the name of
    their service; that of S3 is a gateway, and always there.
    """

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    region: str
    cidr: str
    subnets: tuple[MadeSubnet, ...]
    nat: str
    endpoints: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def stack(self) -> str:
        """The name of its stack."""
        return f"trainyard-{self.cluster}-network"

    @property
    def isolated(self) -> bool:
        """Whether nothing in it reaches the internet."""
        return self.nat == "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet(PlanItem):
    """An imported subnet, by its id or by its block."""

    zone: str
    id: str = ""
    public: bool = False
    cidr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Network(PlanItem):
    """The VPC: a new one (``cidr`` and ``zones``) or an imported one (``vpc`` and ``subnets``).

    ``public_endpoint``: whether the Kubernetes API is reached from outside; ``None`` where that is left to the tool.
    ``fully_private``: eksctl makes it without a way to the internet.
    """

    cidr: str | None = None
    zones: tuple[str, ...] = ()
    vpc: str | None = None
    subnets: tuple[Subnet, ...] = ()
    public_endpoint: bool | None = True
    private_endpoint: bool = True
    public_cidrs: tuple[str, ...] = ()
    fully_private: bool = False
