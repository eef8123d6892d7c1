"""Plan items of AWS resources that templates create: roles and what they may do, queues, buckets, rules.

These nodes are lifted alone, since the plan says the same in its ``Bootstrap``. A value that an intrinsic function
fills in is unknown: it is left out, and its field is among the node's ``unread``. Of ``Fn::Sub`` the text is known,
with its ``${…}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.base import ROOT, PlanItem

_EVERY = re.compile(r"\*+|arn:[^:]*:[^:]*:[^:]*:[^:]*:\*(?:/\*)?")
_LOOSE = re.compile(r"^ForAllValues:|Not(?:Equals|Like|IpAddress)|^Null$|IfExists$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(PlanItem):
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

    @property
    def is_about_everything(self) -> bool:
        """Whether a resource of it is every one: of all services, or of one, as in ``arn:aws:s3:::*``."""
        return any(_EVERY.fullmatch(resource) for resource in self.resources)

    @property
    def limiting_keys(self) -> tuple[str, ...]:
        """The keys by which a condition says what or who is meant, in small letters. What is not meant is no limit,
        and for a key that a request does not have `ForAllValues` and `...IfExists` hold (IAM user guide, condition
        operators)."""
        operators = self.conditions.items()
        return tuple(
            key.lower()
            for operator, keys in operators
            if not _LOOSE.search(operator)
            for key in keys
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudResource(PlanItem):
    """A resource of a template, or a part of one, by the resource's logical name. It is not compared: the node of the
    bootstrap says what it is lowered from."""

    carried: ClassVar[bool] = False

    logical: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy(CloudResource):
    """A policy of IAM. ``what`` it is: `managed`, `inline` (a part of a role), `trust` (who may be the role), or the
    policy of a `queue` or `bucket`. ``characters``: at least as many as IAM counts, which counts no white space.
    ``holders``: names, or logical names, of its roles, or of the queues or bucket that it is about."""

    what: str
    name: str | None = None
    statements: tuple[Statement, ...] = ()
    characters: int = 0
    holders: tuple[str, ...] = ()

    @property
    def gives_rights(self) -> bool:
        """Whether it says what its holder may do, rather than who may do something with it."""
        return self.what in ("managed", "inline")


@dataclass(frozen=True, slots=True, kw_only=True)
class IamRole(CloudResource):
    """AWS::IAM::Role. ``managed``: the policies attached to it, ARNs or logical names, those that attach themselves
    among them; ``inline``: those inside it, of other resources of the template too."""

    name: str | None = None
    trust: AccessPolicy | None = None
    managed: tuple[str, ...] = ()
    inline: tuple[AccessPolicy, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueue(CloudResource):
    """AWS::SQS::Queue. ``managed_encryption``: encrypted with a key of SQS; ``None``: not said. ``key``: one of KMS."""

    name: str | None = None
    managed_encryption: bool | None = None
    key: bool = False
    retention: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket(CloudResource):
    """AWS::S3::Bucket. ``public_access``: what is said of each setting of its public access block. ``versioned``: what
    is deleted stays as a version; ``None``: not known."""

    name: str | None = None
    versioned: bool | None = None
    public_access: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryStack(CloudResource):
    """AWS::ECR::Repository. ``mutability`` of its tags, ``scan``: whether what is pushed is scanned; ``None``: not
    said."""

    name: str | None = None
    mutability: str | None = None
    scan: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystemStack(CloudResource):
    """AWS::FSx::FileSystem. ``kind``: `LUSTRE`, or another; ``deployment``, ``version`` and ``efa`` are Lustre's;
    ``size`` in GiB, ``throughput`` in MB/s for each TiB, ``backup_days`` how long automatic backups are kept.
    ``imports`` and ``exports``: it is linked to S3 in its own configuration."""

    kind: str | None = None
    deployment: str | None = None
    size: int | None = None
    version: str | None = None
    efa: bool | None = None
    throughput: int | None = None
    backup_days: int | None = None
    imports: bool = False
    exports: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFolder(CloudResource):
    """AWS::FSx::DataRepositoryAssociation: a folder of a file system that is linked to a ``place`` in S3. ``exports``:
    the changes in the folder that FSx makes there too."""

    place: str | None = None
    exports: tuple[str, ...] = ()

    @property
    def bucket(self) -> str | None:
        """The name of the bucket, or what the template calls it."""
        if self.place is None:
            return None
        return self.place.removeprefix("s3://").partition("/")[0]


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
class NodeGroupStack(CloudResource):
    """AWS::EKS::Nodegroup. ``template``: it has a launch template, which may name another image; ``template_name``: how
    it names that, which may be what the stack calls it. ``labels`` are the keys of those of its nodes."""

    instance_types: tuple[str, ...] = ()
    ami_type: str | None = None
    template: bool = False
    template_name: str | None = None
    labels: tuple[str, ...] = ()
    min_size: int | None = None
    max_size: int | None = None
    desired: int | None = None


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


@dataclass(frozen=True, slots=True)
class SecurityRule:
    """A rule of a security group. ``protocol``: `-1` is every one; ports are ``None`` where it has none, or all.
    ``peer``: the other group, by logical name or id; ``None`` of an address block."""

    outgoing: bool
    protocol: str | None
    first: int | None
    last: int | None
    peer: str | None
    at: Route = field(default=ROOT, compare=False, repr=False)

    def lets(self, port: int) -> bool:
        """Whether it lets TCP to a port through."""
        if self.protocol == "-1":
            return True
        if self.protocol not in ("tcp", "6") or self.first is None:
            return False
        if self.last is None:
            last = self.first
        else:
            last = self.last
        return self.first <= port <= last


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroupStack(CloudResource):
    """AWS::EC2::SecurityGroup, with its own rules and those of the template that refer to it. Rules that a
    function gives are unknown: then ``rules`` is among what is unread. ``closed_out``: it says what may leave."""

    name: str | None = None
    description: str | None = None
    rules: tuple[SecurityRule, ...] = ()
    closed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedResource(CloudResource):
    """A resource of a type that not every Region has. ``kind``: its type in CloudFormation; ``region``: where its
    template says that it goes; empty: to the cluster's Region."""

    kind: str
    region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane(CloudResource):
    """The control plane of a cluster of EKS, whatever tool makes it: eksctl, CloudFormation (AWS::EKS::Cluster) or
    Terraform. ``public``: whether its endpoint answers from outside; ``None``: nobody knows."""

    name: str
    kubernetes: str = ""
    public: bool | None = None
    public_cidrs: tuple[str, ...] = ()


RESOURCES: tuple[type[CloudResource], ...] = (
    ControlPlane,
    LimitedResource,
    AccessPolicy,
    IamRole,
    MessageQueue,
    Bucket,
    EventRule,
    FileSystemStack,
    LinkedFolder,
    RepositoryStack,
    PlacementGroupStack,
    NodeGroupStack,
    AccessEntryStack,
    PodIdentityStack,
    SecurityGroupStack,
)
"""Every kind of resource that templates are read for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionalCluster(PlanItem):
    """A cluster in a Region of AWS. Platforms have their own."""

    name: str
    region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TerraformState(PlanItem):
    """Where Terraform keeps the state of what it makes in place of CloudFormation: a bucket, and the bucket's Region;
    ``region`` is that of the cluster. ``tool``: the module of ``stacks`` of an extension that writes for it."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True
    tool: ClassVar[str] = "terraform"

    cluster: str
    region: str
    bucket: str
    bucket_region: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFolder(PlanItem):
    """The folder of the cluster in the repository, as pages and scripts name it. No file carries it."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    path: str
