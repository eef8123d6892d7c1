"""The spec of the network: one to create, or facts about an existing one."""

from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, model_validator

from trainyard.catalog.addresses import usable
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.models.aws import (
    SecurityGroupId,
    SubnetCidr,
    SubnetId,
    VpcCidr,
    VpcId,
    Zone,
    ZoneId,
)
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import one_at_most
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import Distinct


class Cilium(SpecModel):
    """Cilium behind the VPC CNI: addresses stay those of the VPC, and Cilium enforces network policies."""

    startup_taint: bool = Field(
        True,
        description="Whether nodes of pools start with the taint `node.cilium.io/agent-not-ready`, which Cilium "
        "removes: no pod starts before its policies hold.",
        examples=[False],
        bound="`true` or `false`",
        source="cilium v1.20.2, installation/taints.rst",
    )


class Subnet(SpecModel):
    """A subnet that exists."""

    id: SubnetId = Field(
        description="The id of the subnet.",
        examples=["subnet-0a1b2c3d4e5f60718"],
        bound="`subnet-` and 8 or 17 hex digits; each once; private ones, on EKS in two zones or more",
        source="EKS user guide, network-reqs; VPC user guide, subnet basics",
        codes=("SPC005", "RES347"),
    )
    zone: Zone = Field(
        description="The zone that the subnet lies in.",
        examples=["us-west-2a"],
        bound="a zone of the Region in which EKS takes subnets",
        source="EKS user guide, network-reqs",
        codes=("RES004", "RES050"),
    )
    cidr: SubnetCidr | None = Field(
        None,
        description="The IPv4 block of the subnet; with it, the addresses of nodes and pods are compared with its "
        "size.",
        examples=["10.0.32.0/19"],
        bound="an IPv4 block of /16 to /28 with an address for each node and pod",
        source="VPC user guide, subnet sizing",
        codes=("RES026",),
    )
    free_addresses: int | None = Field(
        None,
        ge=6,
        le=65531,
        description="The addresses of the subnet that are free (AvailableIpAddressCount), where others use it too; the "
        "nodes are compared with them.",
        examples=[4091],
        bound="6, which EKS takes for itself, to 65531, and no more than `cidr` has; the addresses of its nodes",
        source="EKS user guide, network-reqs; VPC user guide, subnet sizing",
        codes=("SPC005", "RES026", "RES151"),
    )
    public: bool = Field(
        False,
        description="Whether the subnet has a route to an internet gateway; no node is placed in it.",
        examples=[True],
        bound="`true` or `false`; no node is placed in a public one",
        source="EKS user guide, network-reqs",
    )

    @property
    def addresses(self) -> int | None:
        """Its free addresses, or all that its hosts can have; ``None`` where neither is said."""
        if self.free_addresses is not None:
            return self.free_addresses
        return None if self.cidr is None else usable(self.cidr)

    @property
    def sized_by(self) -> str:
        """The key that says how many there are."""
        return "cidr" if self.free_addresses is None else "freeAddresses"

    @model_validator(mode="after")
    def _free_of_its_own(self) -> Self:
        if self.cidr is None or self.free_addresses is None:
            return self
        most = usable(self.cidr)
        if self.free_addresses > most:
            raise fault(
                f"{self.free_addresses} addresses are free in `{self.cidr}`, which has {most}",
                "write the AvailableIpAddressCount that `aws ec2 describe-subnets` shows",
                "freeAddresses",
                source="VPC user guide, subnet sizing",
            )
        return self


class ExistingNetwork(SpecModel):
    """A VPC that exists, with the subnets that the cluster uses."""

    vpc: VpcId = Field(
        description="The id of the VPC.",
        examples=["vpc-0a1b2c3d4e5f60718"],
        bound="`vpc-` and 8 or 17 hex digits; not with `create`",
        source="EC2 resource ids",
    )
    subnets: list[Subnet] = Field(
        min_length=1,
        description="The subnets of the cluster, of which private ones have all nodes; on EKS these are in two zones "
        "or more.",
        examples=[
            [
                {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2a"},
                {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2b"},
            ]
        ],
    )
    security_groups: Annotated[list[SecurityGroupId], Distinct] = Field(
        [],
        description="Security groups of the pools' nodes, in addition to the one of the cluster, which lets them reach "
        "each other.",
        examples=[["sg-0a1b2c3d4e5f60718"]],
        bound="`sg-` and 8 or 17 hex digits, each once",
        source="EC2 resource ids; karpenter.k8s.aws/v1 securityGroupSelectorTerms",
    )

    @property
    def private(self) -> dict[str, list[Subnet]]:
        """The private subnets by zone."""
        zones: dict[str, list[Subnet]] = {}
        for subnet in self.subnets:
            if not subnet.public:
                zones.setdefault(subnet.zone, []).append(subnet)
        return zones

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        ids = [subnet.id for subnet in self.subnets]
        for id in ids:
            if ids.count(id) > 1:
                raise fault(
                    f"subnet `{id}` is listed twice",
                    "a subnet lies in one zone, and is private or public: keep one of the two",
                    "subnets",
                    source="VPC user guide, subnet basics",
                )
        self._apart()
        if not self.private:
            raise fault(
                "no subnet is private, and all nodes are placed in private ones",
                "add a private subnet of the pools' zone; it costs nothing by itself",
                "subnets",
                source="VPC user guide, subnet basics",
            )
        return self

    def _apart(self) -> None:
        """The blocks of a VPC's subnets do not overlap."""
        blocks = [(subnet, IPv4Network(subnet.cidr)) for subnet in self.subnets if subnet.cidr]
        for index, (subnet, block) in enumerate(blocks):
            for other, taken in blocks[:index]:
                if block.overlaps(taken):
                    raise fault(
                        f"`{subnet.cidr}` of `{subnet.id}` overlaps `{other.cidr}` of `{other.id}`",
                        "write the CidrBlock of each that `aws ec2 describe-subnets` shows",
                        "subnets",
                        source="VPC user guide, subnet basics",
                    )


# Services with an interface endpoint that what runs in a cluster calls (VPC user guide,
# aws-services-privatelink-support). That of S3 is a gateway, which is always there.
Endpoint = Literal[
    "aps-workspaces",
    "autoscaling",
    "cloudformation",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "fsx",
    "git-codecommit",
    "kms",
    "logs",
    "monitoring",
    "sagemaker.api",
    "secretsmanager",
    "sns",
    "sqs",
    "ssm",
    "ssmmessages",
    "sts",
    "xray",
]


def _as_endpoint(value: Any) -> Any:
    """A service by the name of its endpoint, in our words: the list is long."""
    known = get_args(Endpoint)
    if not isinstance(value, str) or value in known:
        return value
    if value == "s3":
        raise fault(
            "S3 has a gateway endpoint in any case",
            "remove `s3`",
            source="VPC user guide, gateway endpoints",
        )
    raise fault(
        f"no interface endpoint `{value}` is known",
        name_meant(value, known) or "write the end of its service's name, like `ecr.api`",
        source="VPC user guide, aws-services-privatelink-support",
    )


class CreatedNetwork(SpecModel):
    """A new VPC. eksctl makes it, and cuts it into a public and a private subnet for each zone; where one of ``nat``,
    ``endpoints`` and ``subnets`` is given, a stack of the bootstrap does."""

    cidr: VpcCidr | None = Field(
        None,
        description="The IPv4 block of the VPC; derived: `10.0.0.0/16`.",
        examples=["10.0.0.0/16"],
        bound="an IPv4 block of /16 to /24, of addresses that hosts can have; private ones; an address for "
        "each node and pod",
        source="EC2 CreateVpc; VPC user guide, VPC CIDR blocks; eksctl cuts it in eight",
        codes=("RES026", "ACC004"),
    )
    zones: Annotated[list[Zone], Distinct] = Field(
        [],
        description="The zones of the VPC, two or more; derived: those of the pools and the first two of the Region.",
        examples=[["us-west-2a", "us-west-2b"]],
        bound="two zones or more of the Region, each once",
        source="EKS user guide, network-reqs",
        codes=("RES004",),
    )
    nat: Literal["perZone", "single", "none"] | None = Field(
        None,
        description="The NAT gateways: one in each zone, which is derived, a `single` one, or `none`, with no way to "
        "the internet at all.",
        examples=["single"],
        bound="`perZone`, `single` or `none`",
        source="VPC user guide, nat-gateway-basics",
    )
    endpoints: Annotated[
        list[Annotated[Endpoint, BeforeValidator(_as_endpoint, json_schema_input_type=Endpoint)]],
        Distinct,
    ] = Field(
        [],
        description="Interface endpoints of AWS services, in addition to those that are derived without NAT; S3 has a "
        "gateway in any case.",
        examples=[["ecr.api", "ecr.dkr", "sts"]],
        bound="an AWS service with an interface endpoint that a cluster calls, each once",
        source="VPC user guide, aws-services-privatelink-support",
        codes=("SPC005", "RES154"),
    )
    subnets: dict[Zone, SubnetCidr] = Field(
        {},
        description="The block of a zone's private subnet, within `cidr`; derived: the eighth of it that is kept for "
        "the zone.",
        examples=[{"us-west-2a": "10.0.128.0/18"}],
        bound="for a zone of the network, an IPv4 block of /16 to /28 within the VPC's that overlaps no other "
        "one, with the addresses of its nodes",
        source="VPC user guide, subnet sizing; amazon-vpc-cni-k8s, eni-and-ip-target",
        codes=("RES150", "RES151"),
    )

    @property
    def is_made(self) -> bool:
        """Whether a stack of the bootstrap makes it."""
        has_parts = bool(self.endpoints or self.subnets)
        return self.nat is not None or has_parts

    @model_validator(mode="after")
    def _two_zones(self) -> Self:
        if len(self.zones) == 1:
            # EKS user guide, network-reqs; eksctl 0.230.0 refuses one zone too.
            raise fault(
                "a cluster in one zone: EKS needs subnets in at least two",
                f"add a second zone of the Region to `{self.zones[0]}`; it costs nothing by itself",
                "zones",
            )
        return self


class Network(SpecModel):
    """The VPC of the cluster: one to ``create``, which is derived, or an ``existing`` one."""

    model_config = one_at_most("create", "existing")

    create: CreatedNetwork | None = Field(
        None,
        description="A new VPC; without `existing` there is one in any case.",
        examples=[{"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}],
    )
    existing: ExistingNetwork | None = Field(
        None,
        description="A VPC that exists, instead of a new one.",
        examples=[
            {
                "vpc": "vpc-0a1b2c3d4e5f60718",
                "subnets": [
                    {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2a"},
                    {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2b"},
                ],
            }
        ],
    )
    cilium: Cilium | None = Field(
        None,
        description="Cilium, chained behind the VPC CNI, which enforces network policies; unset: the VPC CNI does.",
        examples=[{"startupTaint": True}],
    )
    zone_ids: dict[Zone, ZoneId] = Field(
        {},
        description="The id of each zone in this account, since the same name means different zones in different "
        "accounts.",
        examples=[{"us-east-1a": "use1-az4"}],
        bound="zones of the Region, each with an id like `use1-az4` of its own",
        source="EC2 DescribeAvailabilityZones ZoneId",
        codes=("SPC005", "RES004"),
    )

    @property
    def created(self) -> CreatedNetwork:
        """What the spec says of a new VPC."""
        return self.create or CreatedNetwork()

    @property
    def is_made(self) -> bool:
        """Whether a stack of the bootstrap makes it."""
        return self.existing is None and self.created.is_made

    @property
    def is_isolated(self) -> bool:
        """Whether nothing in it reaches the internet, as far as the spec says."""
        return self.is_made and self.created.nat == "none"

    @property
    def zones(self) -> tuple[str, ...]:
        """The zones that nodes may be in, as far as the spec names them."""
        if self.existing is not None:
            return tuple(self.existing.private)
        return tuple(self.created.zones)

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        ids = list(self.zone_ids.values())
        for id in ids:
            if ids.count(id) > 1:
                raise fault(
                    f"two zones have the id `{id}`",
                    "write the id of each, which are different",
                    "zoneIds",
                )
        return self

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.create is not None and self.existing is not None:
            raise fault(
                "both `create` and `existing` are given",
                "write one of them: an existing VPC has its own CIDR and zones",
                "existing",
            )
        return self


class NetworkSection(Section):
    """The VPC of the cluster."""

    network: Network = Field(
        Network.model_construct(),
        description="The VPC of the cluster: a new one, or one that exists.",
        examples=[{"create": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}}],
    )


SECTION = NetworkSection
