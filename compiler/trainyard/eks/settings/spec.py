"""The spec of the EKS cluster itself."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, model_validator

from trainyard.language.models.aws import (
    AddonName,
    AddonVersion,
    AmiAlias,
    Arn,
    InstanceType,
    PolicyArn,
    PublicCidr,
)
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import Distinct, KubernetesVersion, ObjectName, Period, Whole
from trainyard.language.places import Route
from trainyard.language.units import Duration


class AddonRole(SpecModel):
    """The rights of an add-on: those of policies, for a service account."""

    namespace: ObjectName = Field(
        description="The namespace of the add-on.",
        examples=["external-dns"],
        bound="the name of a namespace; not of an add-on of every cluster",
        source="EKS API, AddonPodIdentityConfiguration",
        codes=("RES223",),
    )
    service_account: ObjectName = Field(
        description="The service account of the add-on's pods.",
        examples=["external-dns"],
        bound="the name of a service account",
        source="EKS API, AddonPodIdentityConfiguration",
    )
    policies: Annotated[list[PolicyArn], Distinct] = Field(
        description="The IAM policies that its role has; none: it needs no role.",
        examples=[["arn:aws:iam::111122223333:policy/dns"]],
        bound="ARNs of policies of AWS or of the account, each once; none: no role",
        source="IAM service model, pathType and policyNameType; IAM API, AttachRolePolicy",
        codes=("RES286",),
    )


class AddonSettings(SpecModel):
    """An EKS add-on of the cluster's own, or what it changes of one that every cluster has."""

    version: AddonVersion | None = Field(
        None,
        description="The build of the add-on; derived: the release's, or the one that EKS takes for an add-on that "
        "the release does not know.",
        examples=["v1.63.1-eksbuild.1"],
        bound="a build of the add-on; not of one whose chart Flux installs",
        source="EKS API, DescribeAddonVersions",
        codes=("RES070",),
    )
    values: dict[str, Any] = Field(
        {},
        description="The configuration of the add-on (configurationValues), over what Trainyard sets.",
        examples=[{"env": {"WARM_ENI_TARGET": "1"}}],
        bound="a mapping, as the schema of the add-on has it",
        source="EKS API, DescribeAddonConfiguration",
        codes=("SPC003",),
    )
    role: AddonRole | None = Field(
        None,
        description="What an add-on of the cluster's own may do in AWS; derived: of those that AWS documents, the "
        "managed policies that they need.",
        examples=[
            {
                "namespace": "external-dns",
                "serviceAccount": "external-dns",
                "policies": ["arn:aws:iam::111122223333:policy/dns"],
            }
        ],
    )


LIFE = Duration(504 * 3600)
"""A node of Auto Mode lives 21 days at most (EKS user guide, auto-security): the API server refuses a NodePool whose
`expireAfter` and `terminationGracePeriod` are more together (aws-controllers-k8s/test-infra#1000, 2026-06)."""
_LEAST, _MOST = Duration(3600), Duration(480 * 3600)
_GRACE = Duration(168 * 3600)  # leaves 336h, Auto Mode's own `expireAfter`


class AutoMode(SpecModel):
    """A cluster whose nodes EKS launches, patches, repairs and replaces (EKS Auto Mode)."""

    termination_grace_period: Period | None = Field(
        None,
        description="How long a run goes on where its node has reached its age, which is 504h less this; derived: "
        "`168h`.",
        examples=["240h"],
        bound="1h to 480h",
        source="EKS user guide, auto-security: a node lives 504h at most",
        codes=("SPC005", "RES192", "HLT045"),
    )

    @model_validator(mode="after")
    def _within_the_life(self) -> Self:
        grace = self.grace
        if not _LEAST <= grace <= _MOST:
            raise fault(
                f"`{grace}` of the {LIFE} that a node lives",
                f"write between `{_LEAST}` and `{_MOST}`",
                "terminationGracePeriod",
                source="EKS user guide, auto-security: maximum lifetime of 21 days",
            )
        return self

    @property
    def grace(self) -> Duration:
        """How long a run goes on where its node has reached its age."""
        return self.termination_grace_period or _GRACE

    @property
    def expire_after(self) -> Duration:
        """The age at which a node gets no more pods."""
        return Duration(LIFE.seconds - self.grace.seconds)


LogDays = Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653]
"""eksctl v0.230.0, schema.json: ClusterCloudWatchLogging.logRetentionInDays."""


class ApiServer(SpecModel):
    """Who reaches the Kubernetes API from outside the VPC. Its own nodes always do, inside the VPC."""

    # EKS user guide, service-quotas: public endpoint access CIDR ranges per cluster
    public: Annotated[list[PublicCidr], Distinct] = Field(
        [],
        max_length=40,
        description="The address blocks that reach the Kubernetes API over the internet.",
        examples=[["203.0.113.0/24"]],
        bound="IPv4 blocks of the internet, 40 at most; none is nobody; not everybody",
        source="EKS user guide, cluster-endpoint and service-quotas",
        codes=("ACC001",),
    )


def _as_access(value: Any) -> Any:
    """`private` is no access from outside the VPC."""
    if value == "private":
        return {}
    if isinstance(value, str):
        raise fault(
            f"`apiServer` is `{value}`",
            "write `private`, or `{public: [203.0.113.0/24]}` with the blocks that reach it",
        )
    return value


class SystemNodes(SpecModel):
    """The managed node group that runs the controllers."""

    instance_type: InstanceType = Field(
        "m7i.2xlarge",
        description="The EC2 instance type of the system nodes, without accelerators.",
        examples=["m7i.2xlarge"],
        bound="a type of the catalog without accelerators, with room for the controllers",
        source="requests of kueue v0.19.2, jobset v0.12.0, metrics-server v0.9.0, Flux 2.9, CoreDNS of eksctl "
        "v0.230.0 (compiler/trainyard/eks/system/resolve.py)",
        codes=("RES005", "RES018", "RES042", "RES287"),
    )
    nodes: int = Field(
        2,
        ge=2,
        le=20,
        description="The number of system nodes; the node group may have one more during an update.",
        examples=[2],
        bound="2 to 20: Karpenter's two pods are on two nodes",
        source="karpenter v1.14.1 charts/karpenter/values.yaml",
        codes=("RES042", "RES287"),
    )


class Eks(SpecModel):
    """What only EKS has."""

    version: KubernetesVersion | None = Field(
        None,
        description="The Kubernetes version of the cluster, without a patch; derived: the release's.",
        examples=["1.35"],
        bound="`1.35` and the like; one that the release supports, and the version of Karpenter takes",
        source="EKS Kubernetes versions; Karpenter's compatibility matrix",
        codes=("RES002", "RES235", "HLT024", "HLT029"),
    )
    ami: AmiAlias | None = Field(
        None,
        description="The image that the pools' nodes boot, as an AMI alias of Karpenter; derived: the release's.",
        examples=["al2023@v20260714"],
        bound="`FAMILY@VERSION`; a family that the Kubernetes version has",
        source="karpenter.k8s.aws/v1 EC2NodeClass amiSelectorTerms.alias",
        codes=("RES002", "HLT018", "HLT021", "HLT057"),
    )
    api_server: Annotated[
        ApiServer,
        BeforeValidator(_as_access, json_schema_input_type=Literal["private"] | ApiServer),
    ] = Field(
        ApiServer.model_construct(),
        description="Who reaches the Kubernetes API from outside the VPC: `private` is nobody, which is derived.",
        examples=["private", {"public": ["203.0.113.0/24"]}],
    )
    admins: Annotated[list[Arn], Distinct] = Field(
        [],
        description="The IAM roles and users that may do everything in the cluster, in addition to the principal that "
        "creates it.",
        examples=[["arn:aws:iam::111122223333:role/platform"]],
        bound="ARNs of IAM roles and users of the partition, each once, not the nodes'",
        source="EKS API CreateAccessEntry; IAM service model",
        codes=("RES043",),
    )
    system_nodes: SystemNodes = Field(
        SystemNodes.model_construct(),
        description="The nodes that run the controllers; they are always on.",
        examples=[{"instanceType": "m7i.2xlarge", "nodes": 2}],
    )

    control_plane_log_days: Annotated[LogDays, Whole] | None = Field(
        None,
        description="The days for which CloudWatch keeps the log of the control plane, `/aws/eks/NAME/cluster`, from "
        "the creation of the cluster on; derived: 90.",
        examples=[365],
        bound="1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653",
        source="eksctl v0.230.0, schema.json: ClusterCloudWatchLogging.logRetentionInDays",
    )
    auto_mode: AutoMode | None = Field(
        None,
        description="Whether EKS launches, patches and repairs the nodes (EKS Auto Mode); unset: Karpenter does, which "
        "runs in the cluster.",
        examples=[{}],
    )
    addons: dict[AddonName, AddonSettings] = Field(
        {},
        description="EKS add-ons in addition to those of every cluster, and changed settings of those, by name.",
        examples=[{"amazon-cloudwatch-observability": {"version": "v4.3.1-eksbuild.1"}}],
    )


class Platform(SpecModel):
    """What the cluster runs on: the key says it, and holds what only it has."""

    eks: Eks = Field(
        Eks.model_construct(),
        description="Amazon EKS with Karpenter.",
        examples=[{"apiServer": {"public": ["203.0.113.0/24"]}}],
    )


class ClusterSection(Section):
    """The platform."""

    platform: Platform = Field(
        Platform.model_construct(),
        description="What the cluster runs on: `eks`, with what only EKS has.",
        examples=[{"eks": {"apiServer": {"public": ["203.0.113.0/24"]}}}],
    )

    @property
    def eks(self) -> Eks:
        """What only EKS has."""
        return self.platform.eks

    @property
    def auto_mode(self) -> AutoMode | None:
        """How EKS Auto Mode runs the nodes, where it does."""
        return self.platform.eks.auto_mode


SECTION = ClusterSection
AT_EKS = Route(("spec", "platform", "eks"))
