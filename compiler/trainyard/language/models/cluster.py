"""The spec of a cluster: what every cluster has, on any platform."""

from typing import Literal

from trainyard.language.models.aws import Account, Region, TagKey, TagValue
from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
from trainyard.language.models.types import ClusterName


class Metadata(SpecModel):
    """The cluster's name; the folder of its output has it too."""

    name: ClusterName = Field(
        description="The cluster's name in AWS and Kubernetes, and the name of its folder below `generated/`.",
        examples=["research"],
        bound="2 to 40 lowercase letters, digits, `-`; a letter first",
        source="EKS API CreateCluster name; IAM role names of 64 characters made from it",
    )


class ClusterSpec(SpecModel):
    """Everything about one cluster: the keys of every platform, and the sections of this one's features."""

    account: Account = Field(
        description="The id of the AWS account, 12 digits in quotes.",
        examples=["111122223333"],
        bound="12 digits, quoted",
        source="AWS account management guide, account identifiers",
        codes=("YML009",),
    )
    region: Region = Field(
        description="The AWS Region of the cluster.",
        examples=["us-west-2"],
        bound="a Region of the catalog, not a zone",
        source="EC2 DescribeRegions",
        codes=("RES003", "RES345", "RES361"),
    )
    release: str | None = Field(
        None,
        description="The set of upstream versions that were tested together; derived: the newest of this Trainyard.",
        examples=["2026.11"],
        bound="a release of the catalog",
        source="compiler/trainyard/catalog/data/releases/",
        codes=("RES001",),
    )
    # AWS: 50 a resource, of which eksctl and Karpenter need some
    tags: dict[TagKey, TagValue] = Field(
        {},
        max_length=40,
        description="The AWS tags of everything that is made, at most 40; eksctl and Karpenter add some of their own.",
        examples=[{"cost-center": "research"}],
        bound="40; keys of 128 and values of 256 characters that IAM takes; no key of AWS, EKS or Karpenter",
        source="IAM tagKeyType, tagValueType (botocore 1.44.5); EC2NodeClass CRD v1.14.1",
    )


class TrainingCluster(SpecModel):
    """A whole spec: the document of one cluster."""

    api_version: Literal["trainyard.dev/v1alpha1"] = Field(
        description="The version of the spec language.",
        examples=["trainyard.dev/v1alpha1"],
        bound="`trainyard.dev/v1alpha1`",
        source="this language",
    )
    kind: Literal["TrainingCluster"] = Field(
        description="What the document is.",
        examples=["TrainingCluster"],
        bound="`TrainingCluster`",
        source="this language",
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
