"""The cluster and everything in it, as people write it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.jobs import Job
from compiler.spec.nodes import NodePool
from compiler.spec.queues import Cohort, Priority, Queue
from compiler.spec.storage import Storage
from compiler.spec.types import (
    Account,
    Arn,
    Cidr,
    ClusterName,
    Duration,
    InstanceType,
    LabelKey,
    LabelValue,
    Name,
    Quantity,
    Region,
    SubnetId,
    VpcCidr,
    VpcId,
    Zone,
    fault,
)


class Metadata(SpecModel):
    """The cluster's name; the folder of its output has it too."""

    name: ClusterName


class ImportedVpc(SpecModel):
    """A VPC that exists: its subnets by zone."""

    id: VpcId
    private: dict[Zone, SubnetId] = Field(min_length=2, description="private subnet of each zone; at least two zones")
    public: dict[Zone, SubnetId] = {}


class Network(SpecModel):
    """A new VPC (``cidr``, ``zones``) or an imported one (``vpc``)."""

    cidr: VpcCidr | None = None
    zones: list[Zone] = []
    vpc: ImportedVpc | None = None
    endpoint: Literal["public", "private", "both"] = "both"
    public_access: list[Cidr] = Field([], description="who may reach a public endpoint; unset: everybody")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.vpc is not None and (self.cidr is not None or self.zones):
            raise fault("an imported `vpc` has its own CIDR and zones", "remove `cidr` and `zones`, or `vpc`")
        if self.public_access and self.endpoint == "private":
            raise fault("a private endpoint has no public access list", "remove `publicAccess`, or `endpoint`")
        return self


class SystemNodes(SpecModel):
    """The managed node group that runs the controllers."""

    instance_type: InstanceType = "m7i.2xlarge"
    nodes: int = Field(2, ge=2, le=20)


class NamespaceQuota(SpecModel):
    """The ceiling of a namespace, over everything in it."""

    cpu: Quantity | None = None
    memory: Quantity | None = None
    gpus: int | None = Field(None, ge=0)
    pods: int | None = Field(None, ge=0)


class Namespace(SpecModel):
    """A team's namespace."""

    name: Name
    quota: NamespaceQuota | None = None
    group: str | None = Field(None, description="Kubernetes group (of an access entry) that may see and debug its jobs")


class Health(SpecModel):
    """What watches the nodes, and what is done about it."""

    monitoring_agent: bool = True
    problem_detector: bool = True
    repair: bool = Field(True, description="Karpenter replaces nodes that the monitoring agent finds sick")


class Kueue(SpecModel):
    """Settings of the queue manager."""

    wait_for_pods_ready: Duration | None = Field(
        None, description="how long the pods of an admitted job may take; derived from provisioning and image pull"
    )


class Flux(SpecModel):
    """The git repository that Flux reads."""

    url: str | None = Field(None, pattern=r"^(https?|ssh)://.+$")
    branch: str = "main"
    path: str | None = Field(None, description="folder of this cluster in the repository; derived: generated/NAME")
    source: Name = "flux-system"


class Versions(SpecModel):
    """Single upstream versions that differ from the release's."""

    kubernetes: str | None = None
    karpenter: str | None = None
    kueue: str | None = None
    jobset: str | None = None
    trainer: str | None = None
    ami: str | None = None


class ClusterSpec(SpecModel):
    """Everything about one cluster."""

    platform: Literal["eks"] = "eks"
    account: Account
    region: Region
    release: str | None = None
    versions: Versions = Versions()
    network: Network = Network()
    admins: list[Arn] = []
    tags: dict[str, str] = {}
    system: SystemNodes = SystemNodes()
    node_pools: list[NodePool] = Field(min_length=1)
    namespaces: list[Namespace] = []
    storage: list[Storage] = []
    priorities: list[Priority] = []
    cohorts: list[Cohort] = []
    queues: list[Queue] = []
    jobs: list[Job] = []
    labels: dict[LabelKey, LabelValue] = {}
    health: Health = Health()
    kueue: Kueue = Kueue()
    flux: Flux = Flux()


class TrainingCluster(SpecModel):
    """A whole spec."""

    api_version: Literal["trainyard.dev/v1alpha1"]
    kind: Literal["TrainingCluster"]
    metadata: Metadata
    spec: ClusterSpec
