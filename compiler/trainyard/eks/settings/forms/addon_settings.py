"""Settings of one EKS add-on."""

from typing import Annotated, Any

from pydantic import Field

from trainyard.language.models.aws import AddonVersion, PolicyArn
from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import Distinct, ObjectName


class AddonRole(SpecModel):
    """The rights of an add-on: those of policies, for a service account."""

    namespace: ObjectName = Field(
        description="The namespace of the add-on.", examples=["external-dns"]
    )
    service_account: ObjectName = Field(
        description="The service account of the add-on's pods.", examples=["external-dns"]
    )
    policies: Annotated[list[PolicyArn], Distinct] = Field(
        description="The IAM policies that its role has; none: it needs no role.",
        examples=[["arn:aws:iam::111122223333:policy/dns"]],
    )


class AddonSettings(SpecModel):
    """An EKS add-on of the cluster's own, or what it changes of one that every cluster has."""

    version: AddonVersion | None = Field(
        None,
        description="The build of the add-on; derived: the release's, or the one that EKS takes for an add-on that "
        "the release does not know.",
        examples=["v1.63.1-eksbuild.1"],
    )
    values: dict[str, Any] = Field(
        {},
        description="The configuration of the add-on (configurationValues), over what Trainyard sets.",
        examples=[{"env": {"WARM_ENI_TARGET": "1"}}],
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
