"""An existing VPC."""

from ipaddress import IPv4Network
from typing import Annotated, Self

from pydantic import Field, model_validator

from trainyard.catalog.addresses import usable
from trainyard.language.models.aws import SecurityGroupId, SubnetCidr, SubnetId, VpcId, Zone
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.types import Distinct


class Subnet(SpecModel):
    """A subnet that exists."""

    id: SubnetId = Field(description="The id of the subnet.", examples=["subnet-0a1b2c3d4e5f60718"])
    zone: Zone = Field(description="The zone that the subnet lies in.", examples=["us-west-2a"])
    cidr: SubnetCidr | None = Field(
        None,
        description="The IPv4 block of the subnet; with it, the addresses of nodes and pods are compared with its "
        "size.",
        examples=["10.0.32.0/19"],
    )
    free_addresses: int | None = Field(
        None,
        ge=6,
        le=65531,
        description="The addresses of the subnet that are free (AvailableIpAddressCount), where others use it too; the "
        "nodes are compared with them.",
        examples=[4091],
    )
    public: bool = Field(
        False,
        description="Whether the subnet has a route to an internet gateway; no node is placed in it.",
        examples=[True],
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

    vpc: VpcId = Field(description="The id of the VPC.", examples=["vpc-0a1b2c3d4e5f60718"])
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
