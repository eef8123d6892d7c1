"""The network, as people write it."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from compiler.spec.base import SpecModel
from compiler.spec.checks import fault
from compiler.spec.section import Section
from compiler.spec.types import Distinct, SubnetId, VpcCidr, VpcId, Zone, ZoneId


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


class NetworkSection(Section):
    """The VPC of the cluster."""

    network: Network = Field(
        Network(),
        description="The VPC of the cluster: a new one, or one that exists.",
        examples=[{"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}],
    )


SECTION = NetworkSection
