"""The cluster and everything in it, as people write it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.jobs import Job
from compiler.spec.nodes import NodePool
from compiler.spec.queues import Cohort, Priority, Queue
from compiler.spec.storage import Storage
from compiler.spec.types import (
    Account,
    AmiAlias,
    Arn,
    Branch,
    ClusterName,
    Distinct,
    GroupName,
    InstanceType,
    JobLabelKey,
    KubernetesVersion,
    LabelValue,
    Name,
    ObjectName,
    Period,
    PublicCidr,
    Quantity,
    Region,
    RepositoryPath,
    RepositoryUrl,
    SubnetId,
    TagKey,
    TagValue,
    Version,
    VpcCidr,
    VpcId,
    Zone,
    ZoneId,
)


class Metadata(SpecModel):
    """The cluster's name; the folder of its output has it too."""

    name: ClusterName


class ImportedVpc(SpecModel):
    """A VPC that exists: its subnets by zone."""

    id: VpcId
    private: dict[Zone, SubnetId] = Field(min_length=2, description="private subnet of each zone; at least two zones")
    public: dict[Zone, SubnetId] = {}

    @model_validator(mode="after")
    def _one_zone_each(self) -> Self:
        # A subnet lies in one zone (VPC user guide, subnet basics).
        used: dict[str, tuple[str, str]] = {}
        for kind, subnets in (("private", self.private), ("public", self.public)):
            for zone, subnet in subnets.items():
                before = used.setdefault(subnet, (kind, zone))
                if before != (kind, zone):
                    raise fault(f"subnet `{subnet}` is given for {before[0]} `{before[1]}` and for {kind} `{zone}`",
                                "a subnet lies in one zone, and is private or public: write the one of each", kind,
                                source="VPC user guide, subnet basics")
        return self


class Network(SpecModel):
    """A new VPC (``cidr``, ``zones``) or an imported one (``vpc``)."""

    cidr: VpcCidr | None = None
    zones: Annotated[list[Zone], Distinct] = []
    zone_ids: dict[Zone, ZoneId] = Field(
        {}, description="which zone a name is in this account, like `us-east-1a: use1-az4`: names differ by account; "
        "`aws ec2 describe-availability-zones` tells the ids"
    )
    vpc: ImportedVpc | None = None

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        ids = list(self.zone_ids.values())
        if twice := next((each for each in ids if ids.count(each) > 1), None):
            raise fault(f"two zones have the id `{twice}`", "write the id of each, which are different", "zoneIds")
        return self

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.vpc is not None and (self.cidr is not None or self.zones):
            raise fault("an imported `vpc` has its own CIDR and zones", "remove `cidr` and `zones`, or `vpc`", "vpc")
        if len(self.zones) == 1:
            # EKS user guide, network-reqs; eksctl 0.230.0 refuses one zone too.
            raise fault("a cluster in one zone: EKS wants subnets in two at least",
                        f"add a second zone of the Region beside `{self.zones[0]}`; it costs nothing by itself",
                        "zones")
        return self


class ApiServer(SpecModel):
    """Who reaches the Kubernetes API from outside the VPC. Its own nodes always do, inside the VPC."""

    public: Annotated[list[PublicCidr], Distinct] = Field(
        [], max_length=40,  # EKS user guide, service-quotas: public endpoint access CIDR ranges per cluster
        description="address blocks that reach it over the internet; none: it is reached from inside the VPC alone",
    )


class SystemNodes(SpecModel):
    """The managed node group that runs the controllers."""

    instance_type: InstanceType = "m7i.2xlarge"
    nodes: int = Field(2, ge=2, le=20)


class NamespaceQuota(SpecModel):
    """The ceiling of a namespace, over everything in it."""

    cpu: Quantity | None = None
    memory: Quantity | None = None
    gpus: int | None = Field(None, ge=0, description="accelerators, of each kind that its queues have")
    pods: int | None = Field(None, ge=0)


class Namespace(SpecModel):
    """A team's namespace."""

    name: Name
    quota: NamespaceQuota | None = None
    group: GroupName | None = Field(
        None, description="Kubernetes group that may see and debug its jobs; the principals join it"
    )
    principals: Annotated[list[Arn], Distinct] = Field(
        [], description="IAM roles and users that may see and debug its jobs, by ARN; each gets an access entry"
    )


class Health(SpecModel):
    """What watches the nodes, and what is done about it."""

    monitoring_agent: bool = True
    problem_detector: bool = True
    repair: bool = Field(True, description="Karpenter replaces nodes that the monitoring agent finds sick")


class Kueue(SpecModel):
    """Settings of the queue manager."""

    wait_for_pods_ready: Period | None = Field(
        None, description="how long the pods of an admitted job may take; derived from provisioning and image pull"
    )


class Flux(SpecModel):
    """The git repository that Flux reads."""

    url: RepositoryUrl | None = Field(None, description="unset: the repository that `flux bootstrap` was given")
    secret: ObjectName | None = Field(
        None, description="Secret in flux-system with the credentials; derived for `ssh://`, else none: it is public"
    )
    branch: Branch = "main"
    path: RepositoryPath | None = Field(
        None, description="folder of this cluster in the repository; derived: generated/NAME"
    )
    source: Name = "flux-system"

    @model_validator(mode="after")
    def _of_the_url(self) -> Self:
        if self.secret is not None and self.url is None:
            raise fault(f"Secret `{self.secret}` has credentials for no repository",
                        "add `url:`, or remove it: `flux bootstrap` makes a Secret of its own", "secret")
        return self


class Versions(SpecModel):
    """Single upstream versions that differ from the release's."""

    kubernetes: KubernetesVersion | None = None
    karpenter: Version | None = None
    kueue: Version | None = Field(None, description="unset: the one that starts jobs of this Trainer")
    jobset: Version | None = None
    trainer: Version | None = None
    ami: AmiAlias | None = None

    def given(self) -> dict[str, str]:
        """Those that the spec gives, by component."""
        return {name: version for name, version in self if version is not None}


class ClusterSpec(SpecModel):
    """Everything about one cluster."""

    platform: Literal["eks"] = "eks"
    account: Account = Field(description="id of the AWS account, 12 digits, quoted")
    region: Region = Field(description="AWS Region, like `us-west-2`")
    release: str | None = None
    versions: Versions = Versions()
    network: Network = Network()
    api_server: ApiServer = ApiServer()
    admins: Annotated[list[Arn], Distinct] = Field(
        [], description="IAM roles and users that may do everything in the cluster, beside the one that creates it"
    )
    tags: dict[TagKey, TagValue] = Field(
        {}, max_length=40,  # AWS: 50 a resource, of which eksctl and Karpenter need some
        description="AWS tags of everything that is made; eksctl and Karpenter add some",
    )
    system: SystemNodes = SystemNodes()
    node_pools: list[NodePool] = Field(min_length=1)
    namespaces: list[Namespace] = []
    storage: list[Storage] = []
    priorities: list[Priority] = []
    cohorts: list[Cohort] = []
    queues: list[Queue] = []
    jobs: list[Job] = []
    ended_runs: Annotated[list[ObjectName], Distinct] = Field(
        [], description="TrainJobs of earlier runs that have ended, so that what they needed may go"
    )
    labels: dict[JobLabelKey, LabelValue] = Field({}, description="labels of every job; a job's own win")
    health: Health = Health()
    kueue: Kueue = Kueue()
    flux: Flux = Flux()


class TrainingCluster(SpecModel):
    """A whole spec."""

    api_version: Literal["trainyard.dev/v1alpha1"]
    kind: Literal["TrainingCluster"]
    metadata: Metadata
    spec: ClusterSpec
