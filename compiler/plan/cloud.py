"""What a CloudFormation template makes of the account: roles and what they may do, queues, buckets, rules.

These nodes are lifted alone, since the plan says the same in its ``Bootstrap``. A value that an intrinsic function
fills in is unknown: it is left out, and its field is among the node's ``unread``. Of ``Fn::Sub`` the text is known,
with its ``${…}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from compiler.dataclass import dataclass
from compiler.plan.base import PlanNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(PlanNode):
    """A statement of a policy. Empty lists are absent; ``principals`` by type, as ``{"*": ("*",)}`` where anybody is
    meant; ``conditions`` are the operators with their keys."""

    effect: str | None
    actions: tuple[str, ...] = ()
    not_actions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    not_resources: tuple[str, ...] = ()
    principals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    not_principals: bool = False
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def allows(self) -> bool:
        """Whether it gives rights."""
        return self.effect == "Allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDocument(PlanNode):
    """A policy. ``characters``: at least as many as IAM counts, which counts no white space."""

    statements: tuple[Statement, ...] = ()
    characters: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudResource(PlanNode):
    """A resource of a template by its logical name. ``template`` is the artifact's id."""

    logical: str
    template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InlinePolicy(PlanNode):
    """A policy inside a role."""

    name: str | None
    document: PolicyDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class IamRole(CloudResource):
    """AWS::IAM::Role. ``managed``: the policies attached to it, ARNs or logical names, those that attach themselves
    among them; ``inline``: those inside it, of other resources of the template too."""

    name: str | None = None
    trust: PolicyDocument | None = None
    managed: tuple[str, ...] = ()
    inline: tuple[InlinePolicy, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IamPolicy(CloudResource):
    """AWS::IAM::ManagedPolicy, AWS::IAM::Policy or AWS::IAM::RolePolicy: what whoever has it may do. ``managed`` tells
    the first from the others, which are parts of a role. ``roles``: names, or logical names."""

    name: str | None = None
    document: PolicyDocument | None = None
    managed: bool = True
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueue(CloudResource):
    """AWS::SQS::Queue. ``managed_encryption``: encrypted with a key of SQS; ``None``: not said. ``key``: one of KMS."""

    name: str | None = None
    managed_encryption: bool | None = None
    key: bool = False
    retention: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePolicy(CloudResource):
    """AWS::SQS::QueuePolicy or AWS::S3::BucketPolicy: who may do what with the ``targets``, which are ``what``."""

    what: str
    document: PolicyDocument | None = None
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket(CloudResource):
    """AWS::S3::Bucket. ``public_access``: what is said of each setting of its public access block."""

    name: str | None = None
    public_access: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule(CloudResource):
    """AWS::Events::Rule: the detail types of events, and where they go (ARNs, or logical names)."""

    detail_types: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementGroupStack(CloudResource):
    """AWS::EC2::PlacementGroup."""

    strategy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessEntryStack(CloudResource):
    """AWS::EKS::AccessEntry: who may enter a cluster."""

    cluster: str | None = None
    principal: str | None = None
    kind: str | None = None
    groups: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodIdentityStack(CloudResource):
    """AWS::EKS::PodIdentityAssociation: the role of a service account's pods."""

    cluster: str | None = None
    namespace: str | None = None
    service_account: str | None = None
    role: str | None = None


RESOURCES: tuple[type[CloudResource], ...] = (
    IamRole,
    IamPolicy,
    MessageQueue,
    ResourcePolicy,
    Bucket,
    EventRule,
    PlacementGroupStack,
    AccessEntryStack,
    PodIdentityStack,
)
"""Every kind of resource that templates are read for."""
