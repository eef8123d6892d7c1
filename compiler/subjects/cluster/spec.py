"""The cluster itself, as people write it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.base import SpecModel
from compiler.spec.section import Section
from compiler.spec.types import Arn, Distinct, InstanceType, PublicCidr


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


class ClusterSection(Section):
    """What only EKS has: the API server, the people, the nodes of the system."""

    platform: Literal["eks"] = Field(
        "eks",
        description="What the cluster runs on; only `eks` exists.",
        examples=["eks"],
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
    system: SystemNodes = Field(
        SystemNodes(),
        description="The nodes that run the controllers; they are always on.",
        examples=[{"instanceType": "m7i.2xlarge", "nodes": 2}],
    )


SECTION = ClusterSection
