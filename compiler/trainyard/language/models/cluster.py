"""The spec of a cluster: what every cluster has, on any platform."""

from typing import Literal

from pydantic import Field

from trainyard.language.models.aws import Account, Region, TagKey, TagValue
from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import ClusterName


class Metadata(SpecModel):
    """The cluster's name; the folder of its output has it too."""

    name: ClusterName = Field(
        description="The cluster's name in AWS and Kubernetes, and the name of its folder below `generated/`.",
        examples=["research"],
    )


class ClusterSpec(SpecModel):
    """Everything about one cluster: the keys of every platform, and the sections of this one's rooms."""

    account: Account = Field(
        description="The id of the AWS account, 12 digits in quotes.", examples=["111122223333"]
    )
    region: Region = Field(description="The AWS Region of the cluster.", examples=["us-west-2"])
    release: str | None = Field(
        None,
        description="The set of upstream versions that were tested together; derived: the newest of this Trainyard.",
        examples=["2026.11"],
    )
    # AWS: 50 a resource, of which eksctl and Karpenter need some
    tags: dict[TagKey, TagValue] = Field(
        {},
        max_length=40,
        description="The AWS tags of everything that is made, at most 40; eksctl and Karpenter add some of their own.",
        examples=[{"cost-center": "research"}],
    )


class TrainingCluster(SpecModel):
    """A whole spec: the document of one cluster."""

    api_version: Literal["trainyard.dev/v1alpha1"] = Field(
        description="The version of the spec language.", examples=["trainyard.dev/v1alpha1"]
    )
    kind: Literal["TrainingCluster"] = Field(
        description="What the document is.", examples=["TrainingCluster"]
    )
    metadata: Metadata = Field(description="The cluster's name.", examples=[{"name": "research"}])
    spec: ClusterSpec = Field(
        description="Everything that is in the cluster.",
        examples=[
            {
                "account": "111122223333",
                "region": "us-west-2",
                "nodePools": [
                    {
                        "name": "h100",
                        "instanceTypes": ["p5.48xlarge"],
                        "zones": ["us-west-2a"],
                        "nodes": {"max": 8},
                    }
                ],
            }
        ],
    )
