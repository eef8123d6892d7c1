"""The cluster and everything in it, as people write it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
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
from compiler.subjects.jobs.spec import Job
from compiler.subjects.pools.spec import NodePool
from compiler.subjects.queues.spec import Cohort, Priority, Queue
from compiler.subjects.storage.spec import Storage


class Metadata(SpecModel):
    """The cluster's name; the folder of its output has it too."""

    name: ClusterName = Field(
        description="The cluster's name in AWS and Kubernetes, and the name of its folder below `generated/`.",
        examples=["research"],
    )


class ImportedVpc(SpecModel):
    """A VPC that exists: its subnets by zone."""

    id: VpcId = Field(
        description="The id of the VPC.", examples=["vpc-0a1b2c3d4e5f60718"]
    )
    private: dict[Zone, SubnetId] = Field(
        min_length=2,
        description="The private subnet of each zone, in two zones or more; all nodes are placed in them.",
        examples=[
            {
                "us-west-2a": "subnet-0a1b2c3d4e5f60718",
                "us-west-2b": "subnet-0a1b2c3d4e5f60719",
            }
        ],
    )
    public: dict[Zone, SubnetId] = Field(
        {},
        description="The public subnet of each zone, where there is one; no node is placed in it.",
        examples=[{"us-west-2a": "subnet-0a1b2c3d4e5f60720"}],
    )

    @model_validator(mode="after")
    def _one_zone_each(self) -> Self:
        # A subnet lies in one zone (VPC user guide, subnet basics).
        used: dict[str, tuple[str, str]] = {}
        for kind, subnets in (("private", self.private), ("public", self.public)):
            for zone, subnet in subnets.items():
                before = used.setdefault(subnet, (kind, zone))
                if before != (kind, zone):
                    raise fault(
                        f"subnet `{subnet}` is given for {before[0]} `{before[1]}` and for {kind} `{zone}`",
                        "a subnet lies in one zone, and is private or public: write the one of each",
                        kind,
                        source="VPC user guide, subnet basics",
                    )
        return self


class Network(SpecModel):
    """A new VPC (``cidr``, ``zones``) or an imported one (``vpc``)."""

    cidr: VpcCidr | None = Field(
        None,
        description="The IPv4 block of a new VPC; derived: `10.0.0.0/16`.",
        examples=["10.0.0.0/16"],
    )
    zones: Annotated[list[Zone], Distinct] = Field(
        [],
        description="The zones of a new VPC, two or more; derived: those of the pools and the first two of the Region.",
        examples=[["us-west-2a", "us-west-2b"]],
    )
    zone_ids: dict[Zone, ZoneId] = Field(
        {},
        description="The id of each zone in this account, since the same name means different zones in different "
        "accounts.",
        examples=[{"us-east-1a": "use1-az4"}],
    )
    vpc: ImportedVpc | None = Field(
        None,
        description="A VPC that exists, instead of a new one.",
        examples=[
            {
                "id": "vpc-0a1b2c3d4e5f60718",
                "private": {
                    "us-west-2a": "subnet-0a1b2c3d4e5f60718",
                    "us-west-2b": "subnet-0a1b2c3d4e5f60719",
                },
            },
        ],
    )

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        ids = list(self.zone_ids.values())
        if twice := next((each for each in ids if ids.count(each) > 1), None):
            raise fault(
                f"two zones have the id `{twice}`",
                "write the id of each, which are different",
                "zoneIds",
            )
        return self

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.vpc is not None and (self.cidr is not None or self.zones):
            raise fault(
                "an imported `vpc` has its own CIDR and zones",
                "remove `cidr` and `zones`, or `vpc`",
                "vpc",
            )
        if len(self.zones) == 1:
            # EKS user guide, network-reqs; eksctl 0.230.0 refuses one zone too.
            raise fault(
                "a cluster in one zone: EKS wants subnets in two at least",
                f"add a second zone of the Region beside `{self.zones[0]}`; it costs nothing by itself",
                "zones",
            )
        return self


class ApiServer(SpecModel):
    """Who reaches the Kubernetes API from outside the VPC. Its own nodes always do, inside the VPC."""

    # EKS user guide, service-quotas: public endpoint access CIDR ranges per cluster
    public: Annotated[list[PublicCidr], Distinct] = Field(
        [],
        max_length=40,
        description="The address blocks that reach the Kubernetes API over the internet; without any, only the VPC "
        "reaches it.",
        examples=[["203.0.113.0/24"]],
    )


class SystemNodes(SpecModel):
    """The managed node group that runs the controllers."""

    instance_type: InstanceType = Field(
        "m7i.2xlarge",
        description="The EC2 instance type of the system nodes, without accelerators.",
        examples=["m7i.2xlarge"],
    )
    nodes: int = Field(
        2,
        ge=2,
        le=20,
        description="The number of system nodes; the node group may have one more during an update.",
        examples=[2],
    )


class NamespaceQuota(SpecModel):
    """The ceiling of a namespace, over everything in it."""

    cpu: Quantity | None = Field(
        None,
        description="The CPUs that all pods of the namespace may request together; unset: no ceiling.",
        examples=[768],
    )
    memory: Quantity | None = Field(
        None,
        description="The memory that all pods of the namespace may request together; unset: no ceiling.",
        examples=["8Ti"],
    )
    gpus: int | None = Field(
        None,
        ge=0,
        description="The accelerators, of each kind, that all pods of the namespace may request together; unset: no "
        "ceiling.",
        examples=[32],
    )
    pods: int | None = Field(
        None,
        ge=0,
        description="The number of pods that may exist in the namespace at once; unset: no ceiling.",
        examples=[100],
    )


class Namespace(SpecModel):
    """A team's namespace, and who may see what runs in it."""

    name: Name = Field(
        description="The namespace's name, which queues and jobs refer to.",
        examples=["team-a"],
    )
    quota: NamespaceQuota | None = Field(
        None,
        description="Ceilings on everything in the namespace, beside what the queues admit.",
        examples=[{"gpus": 32, "pods": 100}],
    )
    group: GroupName | None = Field(
        None,
        description="A Kubernetes group that may see, debug and end the jobs of the namespace; its principals join it.",
        examples=["team-a"],
    )
    principals: Annotated[list[Arn], Distinct] = Field(
        [],
        description="The IAM roles and users that may see, debug and end the jobs of the namespace, by ARN; each gets "
        "an access entry.",
        examples=[["arn:aws:iam::111122223333:role/team-a"]],
    )


class Health(SpecModel):
    """What watches the nodes, and what is done about it."""

    monitoring_agent: bool = Field(
        True,
        description="Whether the EKS node monitoring agent runs on every node and reports faults of GPU, network, "
        "storage and kernel.",
        examples=[True],
    )
    problem_detector: bool = Field(
        True,
        description="Whether GPU nodes that report a fatal Xid get a taint at once, which keeps new pods away.",
        examples=[True],
    )
    repair: bool = Field(
        True,
        description="Whether Karpenter replaces nodes that the monitoring agent reports as faulty.",
        examples=[True],
    )


class Kueue(SpecModel):
    """Settings of the queue manager."""

    wait_for_pods_ready: Period | None = Field(
        None,
        description="How long all pods of an admitted job may take until they are ready, before Kueue puts it back in "
        "the queue; derived: `30m`.",
        examples=["40m"],
    )


class Flux(SpecModel):
    """The git repository that Flux reads."""

    url: RepositoryUrl | None = Field(
        None,
        description="The URL of the git repository; unset: the one that `flux bootstrap` was given.",
        examples=["ssh://git@github.com/example/clusters"],
    )
    secret: ObjectName | None = Field(
        None,
        description="The Secret in `flux-system` with the repository's credentials; derived: `flux-system` for "
        "`ssh://`, otherwise none.",
        examples=["clusters-read"],
    )
    branch: Branch = Field(
        "main",
        description="The branch that Flux applies; used only with `url`.",
        examples=["main"],
    )
    path: RepositoryPath | None = Field(
        None,
        description="The cluster's folder in the repository; derived: the output folder and the cluster's name, "
        "`generated/NAME`.",
        examples=["generated/research"],
    )
    source: Name = Field(
        "flux-system",
        description="The name of the GitRepository that Flux reads.",
        examples=["flux-system"],
    )

    @model_validator(mode="after")
    def _of_the_url(self) -> Self:
        if self.secret is not None and self.url is None:
            raise fault(
                f"Secret `{self.secret}` has credentials for no repository",
                "add `url:`, or remove it: `flux bootstrap` makes a Secret of its own",
                "secret",
            )
        return self


class Versions(SpecModel):
    """Single upstream versions that differ from the release's."""

    kubernetes: KubernetesVersion | None = Field(
        None,
        description="The Kubernetes version of the cluster, without a patch.",
        examples=["1.35"],
    )
    karpenter: Version | None = Field(
        None,
        description="The version of Karpenter, which launches and removes the nodes of the pools.",
        examples=["1.14.1"],
    )
    kueue: Version | None = Field(
        None,
        description="The version of Kueue, which admits jobs; derived: the one that starts jobs of this Trainer.",
        examples=["0.19.2"],
    )
    jobset: Version | None = Field(
        None,
        description="The version of JobSet, which makes the pods of a job and restarts them together.",
        examples=["0.12.0"],
    )
    trainer: Version | None = Field(
        None,
        description="The version of Kubeflow Trainer, which makes a JobSet of each TrainJob.",
        examples=["2.3.0"],
    )
    ami: AmiAlias | None = Field(
        None,
        description="The image that the pools' nodes boot, as an AMI alias of Karpenter.",
        examples=["al2023@v20260714"],
    )

    def given(self) -> dict[str, str]:
        """Those that the spec gives, by component."""
        return {name: version for name, version in self if version is not None}


class ClusterSpec(SpecModel):
    """Everything about one cluster."""

    platform: Literal["eks"] = Field(
        "eks",
        description="What the cluster runs on; only `eks` exists.",
        examples=["eks"],
    )
    account: Account = Field(
        description="The id of the AWS account, 12 digits in quotes.",
        examples=["111122223333"],
    )
    region: Region = Field(
        description="The AWS Region of the cluster.", examples=["us-west-2"]
    )
    release: str | None = Field(
        None,
        description="The set of upstream versions that were tested together; derived: the newest of this Trainyard.",
        examples=["2026.11"],
    )
    versions: Versions = Field(
        Versions(),
        description="Single versions that differ from the release's.",
        examples=[{"trainer": "2.3.0"}],
    )
    network: Network = Field(
        Network(),
        description="The VPC of the cluster: a new one, or one that exists.",
        examples=[{"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}],
    )
    api_server: ApiServer = Field(
        ApiServer(),
        description="Who reaches the Kubernetes API from outside the VPC; without it nobody does.",
        examples=[{"public": ["203.0.113.0/24"]}],
    )
    admins: Annotated[list[Arn], Distinct] = Field(
        [],
        description="The IAM roles and users that may do everything in the cluster, beside the principal that creates "
        "it.",
        examples=[["arn:aws:iam::111122223333:role/platform"]],
    )
    # AWS: 50 a resource, of which eksctl and Karpenter need some
    tags: dict[TagKey, TagValue] = Field(
        {},
        max_length=40,
        description="The AWS tags of everything that is made, at most 40; eksctl and Karpenter add some of their own.",
        examples=[{"cost-center": "research"}],
    )
    system: SystemNodes = Field(
        SystemNodes(),
        description="The nodes that run the controllers; they are always on.",
        examples=[{"instanceType": "m7i.2xlarge", "nodes": 2}],
    )
    node_pools: list[NodePool] = Field(
        min_length=1,
        description="The pools of nodes that run jobs.",
        examples=[
            [
                {
                    "name": "h100",
                    "instanceType": "p5.48xlarge",
                    "zone": "us-west-2a",
                    "nodes": {"max": 8},
                }
            ]
        ],
    )
    namespaces: list[Namespace] = Field(
        [],
        description="The teams' namespaces; derived: those that queues name, or one namespace `training`.",
        examples=[
            [
                {
                    "name": "team-a",
                    "principals": ["arn:aws:iam::111122223333:role/team-a"],
                }
            ]
        ],
    )
    storage: list[Storage] = Field(
        [],
        description="The file systems and buckets that jobs may mount; they exist before the cluster does.",
        examples=[[{"name": "datasets", "s3": {"bucket": "datasets-111122223333"}}]],
    )
    priorities: list[Priority] = Field(
        [],
        description="The priorities that jobs may name.",
        examples=[[{"name": "urgent", "value": 1000}]],
    )
    cohorts: list[Cohort] = Field(
        [],
        description="The cohorts of queues; needed only for a cohort in another cohort, or to have names checked.",
        examples=[[{"name": "training"}]],
    )
    queues: list[Queue] = Field(
        [],
        description="The queues that jobs wait in; derived: one for each pool, with the pool's name and all of its "
        "nodes.",
        examples=[
            [
                {
                    "name": "research",
                    "namespaces": ["team-a"],
                    "quota": [{"pool": "h100", "nodes": 8}],
                }
            ]
        ],
    )
    jobs: list[Job] = Field(
        [],
        description="The training jobs of the cluster.",
        examples=[
            [
                {
                    "name": "pretrain",
                    "nodes": 4,
                    "image": "registry.example/train:1.4.2",
                    "command": ["torchrun", "train.py"],
                },
            ]
        ],
    )
    ended_runs: Annotated[list[ObjectName], Distinct] = Field(
        [],
        description="The TrainJobs of earlier runs that have ended, so that what they needed may be removed.",
        examples=[["finetune-58ede"]],
    )
    labels: dict[JobLabelKey, LabelValue] = Field(
        {},
        description="Kubernetes labels of every job's TrainJob; a job's own labels win.",
        examples=[{"team": "research"}],
    )
    health: Health = Field(
        Health(),
        description="What watches the nodes, and whether faulty ones are replaced.",
        examples=[{"repair": False}],
    )
    kueue: Kueue = Field(
        Kueue(),
        description="Settings of Kueue, the queue manager.",
        examples=[{"waitForPodsReady": "40m"}],
    )
    flux: Flux = Field(
        Flux(),
        description="The git repository, branch and folder that Flux reads.",
        examples=[{"url": "ssh://git@github.com/example/clusters"}],
    )


class TrainingCluster(SpecModel):
    """A whole spec: the document of one cluster."""

    api_version: Literal["trainyard.dev/v1alpha1"] = Field(
        description="The version of the spec language.",
        examples=["trainyard.dev/v1alpha1"],
    )
    kind: Literal["TrainingCluster"] = Field(
        description="What the document is.", examples=["TrainingCluster"]
    )
    metadata: Metadata = Field(
        description="The cluster's name.", examples=[{"name": "research"}]
    )
    spec: ClusterSpec = Field(
        description="Everything that is in the cluster.",
        examples=[
            {
                "account": "111122223333",
                "region": "us-west-2",
                "nodePools": [
                    {
                        "name": "h100",
                        "instanceType": "p5.48xlarge",
                        "zone": "us-west-2a",
                        "nodes": {"max": 8},
                    }
                ],
            },
        ],
    )
