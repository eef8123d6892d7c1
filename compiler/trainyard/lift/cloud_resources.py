"""Resources of AWS in files that make them, as plan items: one table, whatever format the files have.

A row says by which property each field of an item is read, in the words of AWS (CloudFormation template reference,
2026-11). How a format spells these words is its own matter (``lift/cloud_property.py``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.core.cloud.plan import (
    AccessEntryStack,
    AccessPolicy,
    Bucket,
    CloudResource,
    ControlPlane,
    EventRule,
    FileSystemStack,
    IamRole,
    LinkedFolder,
    MessageQueue,
    NodeGroupStack,
    PlacementGroupStack,
    PodIdentityStack,
    RepositoryStack,
    SecurityGroupStack,
    SecurityRule,
)
from trainyard.core.launch.plan import LaunchTemplate
from trainyard.language.dataclass import dataclass
from trainyard.lift.cloud_property import Property
from trainyard.lift.launch_templates import (
    Starter,
    joined,
    launch_template,
    starter_of_ec2,
    starter_of_eks,
    template_named,
)
from trainyard.lift.reader import Reader


@dataclass(frozen=True, slots=True)
class Field:
    """How a field of an item is read: by the property at ``path``, which is its place too. ``unread`` says whether the
    value is there and not known."""

    path: str
    read: Callable[[Property], Any]
    unread: Callable[[Property], bool] = lambda value: value.is_filled_in()


@dataclass(frozen=True, slots=True)
class Row:
    """How a type of resource is read into an item, by the fields of that."""

    item: type[CloudResource]
    fields: Mapping[str, Field]

    def of(self, resource: Property) -> CloudResource:
        """The item of a resource."""
        found = {name: resource.along(field.path) for name, field in self.fields.items()}
        values = {name: self.fields[name].read(value) for name, value in found.items()}
        unread = [name for name, value in found.items() if self.fields[name].unread(value)]
        return self.item(
            at=resource.at,
            logical=resource.resource,
            origins={name: value.at for name, value in found.items()},
            unread=frozenset(unread),
            **values,
        )


def _row(item: type[CloudResource], **fields: Field) -> Row:
    return Row(item, fields)


# --- how a field is read


def _never(value: Property) -> bool:
    return False


def _text(path: str) -> Field:
    return Field(path, lambda value: value.text())


def _number(path: str) -> Field:
    return Field(path, lambda value: value.number())


def _texts(path: str) -> Field:
    return Field(path, lambda value: value.texts())


def _flag(path: str, absent: bool | None = None) -> Field:
    return Field(path, lambda value: value.flag() if value else absent)


def _name(path: str) -> Field:
    """A text, or what the file calls the resource that is referred to."""
    return Field(path, lambda value: value.name(), _never)


def _names(path: str, each: str = "") -> Field:
    """The names in a list; ``each`` is where they stand in its entries."""
    return Field(
        path, lambda value: tuple(part.along(each).name() or "" for part in value.blocks()), _never
    )


def _is_given(path: str) -> Field:
    return Field(path, bool, _never)


def _has_text(path: str) -> Field:
    """Whether there is certainly a value: what a reference is to may be empty, or nothing."""
    return Field(path, lambda value: bool(value.text()), _never)


def _keys(value: Property) -> tuple[str, ...]:
    """The keys of a mapping of texts."""
    body = value.value
    return tuple(map(str, body)) if isinstance(body, dict) else ()


def _is_versioned(status: Property) -> bool | None:
    """A bucket of which nothing is said has no versions (AWS::S3::Bucket, VersioningConfiguration)."""
    if status.is_made():
        return None
    return status.text() == "Enabled"


PUBLIC_ACCESS = (
    "BlockPublicAcls",
    "BlockPublicPolicy",
    "IgnorePublicAcls",
    "RestrictPublicBuckets",
)
"""The settings of a bucket's public access block."""


def _public_access(block: Property) -> dict[str, bool]:
    flags = {name: (block / name).flag() for name in PUBLIC_ACCESS}
    return {name: flag for name, flag in flags.items() if flag is not None}


def _detail_types(pattern: Property) -> tuple[str, ...]:
    """What a pattern of events names, which is a mapping, or JSON in a text."""
    body = pattern.value
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return ()
    return (Reader(body, pattern.at) / "detail-type").texts()


def _trust(document: Property) -> AccessPolicy | None:
    return document.policy("trust")


def _inline(policies: Property) -> tuple[AccessPolicy, ...]:
    read = [
        (policy / "PolicyDocument").policy("inline", (policy / "PolicyName").text())
        for policy in policies.blocks()
    ]
    return tuple(policy for policy in read if policy is not None)


# --- rules of security groups

_PORTS = ("IpProtocol", "FromPort", "ToPort")
_WAYS = {
    "SecurityGroupIngress": "SourceSecurityGroupId",
    "SecurityGroupEgress": "DestinationSecurityGroupId",
}
"""The rules of a group, and the property of one that names the other group."""


def _rules(group: Property) -> tuple[SecurityRule, ...]:
    return tuple(
        _rule(rule, rule / peer, outgoing=way == "SecurityGroupEgress")
        for way, peer in _WAYS.items()
        for rule in (group / way).blocks()
    )


def _rule(rule: Property, peer: Property, *, outgoing: bool) -> SecurityRule:
    protocol, first, last = (rule / name for name in _PORTS)
    said = protocol.number() if protocol.text() is None else protocol.text()
    return SecurityRule(
        outgoing,
        str(said) if said is not None else None,
        first.number(),
        last.number(),
        peer.name(),
        rule.at,
    )


def _has_unread_rules(group: Property) -> bool:
    """Whether rules are not known, or what they let through."""
    rules = [rule for way in _WAYS for rule in (group / way).blocks()]
    return any((rule / name).is_made() for rule in rules for name in _PORTS)


# --- the table

RESOURCES: Mapping[str, Row] = {
    "AWS::EC2::PlacementGroup": _row(PlacementGroupStack, strategy=_text("Strategy")),
    "AWS::EC2::SecurityGroup": _row(
        SecurityGroupStack,
        name=_text("GroupName"),
        description=_text("GroupDescription"),
        rules=Field("", _rules, _has_unread_rules),
        closed_out=_is_given("SecurityGroupEgress"),
    ),
    "AWS::ECR::Repository": _row(
        RepositoryStack,
        name=_text("RepositoryName"),
        mutability=_text("ImageTagMutability"),
        scan=_flag("ImageScanningConfiguration/ScanOnPush"),
    ),
    "AWS::EKS::AccessEntry": _row(
        AccessEntryStack,
        cluster=_name("ClusterName"),
        principal=_name("PrincipalArn"),
        kind=_text("Type"),
        groups=_names("KubernetesGroups"),
        policies=_names("AccessPolicies", each="PolicyArn"),
    ),
    # Without a word the endpoint is public, for every address (AWS::EKS::Cluster, ResourcesVpcConfig).
    "AWS::EKS::Cluster": _row(
        ControlPlane,
        name=Field("Name", lambda value: value.text() or value.resource),
        kubernetes=Field("Version", lambda value: value.text() or ""),
        public=_flag("ResourcesVpcConfig/EndpointPublicAccess", absent=True),
        public_cidrs=_texts("ResourcesVpcConfig/PublicAccessCidrs"),
    ),
    "AWS::EKS::Nodegroup": _row(
        NodeGroupStack,
        instance_types=Field("InstanceTypes", lambda types: tuple(filter(None, types.texts()))),
        ami_type=_text("AmiType"),
        template=_is_given("LaunchTemplate"),
        template_name=Field("LaunchTemplate", template_named, _never),
        labels=Field("Labels", _keys, _never),
        min_size=Field("ScalingConfig/MinSize", lambda value: value.number(), _never),
        max_size=Field("ScalingConfig/MaxSize", lambda value: value.number(), _never),
        desired=Field("ScalingConfig/DesiredSize", lambda value: value.number(), _never),
    ),
    "AWS::EKS::PodIdentityAssociation": _row(
        PodIdentityStack,
        cluster=_name("ClusterName"),
        namespace=_text("Namespace"),
        service_account=_text("ServiceAccount"),
        role=_name("RoleArn"),
    ),
    "AWS::Events::Rule": _row(
        EventRule,
        detail_types=Field("EventPattern", _detail_types),
        targets=_names("Targets", each="Arn"),
    ),
    "AWS::FSx::DataRepositoryAssociation": _row(
        LinkedFolder,
        place=_text("DataRepositoryPath"),
        exports=_texts("S3/AutoExportPolicy/Events"),
    ),
    "AWS::FSx::FileSystem": _row(
        FileSystemStack,
        kind=_text("FileSystemType"),
        deployment=_text("LustreConfiguration/DeploymentType"),
        size=_number("StorageCapacity"),
        version=_text("FileSystemTypeVersion"),
        efa=_flag("LustreConfiguration/EfaEnabled"),
        throughput=_number("LustreConfiguration/PerUnitStorageThroughput"),
        backup_days=_number("LustreConfiguration/AutomaticBackupRetentionDays"),
        imports=_has_text("LustreConfiguration/ImportPath"),
        exports=_has_text("LustreConfiguration/ExportPath"),
    ),
    "AWS::IAM::Role": _row(
        IamRole,
        name=_text("RoleName"),
        trust=Field("AssumeRolePolicyDocument", _trust, _never),
        managed=_names("ManagedPolicyArns"),
        inline=Field("Policies", _inline, _never),
    ),
    "AWS::S3::Bucket": _row(
        Bucket,
        name=_text("BucketName"),
        versioned=Field("VersioningConfiguration/Status", _is_versioned),
        public_access=Field("PublicAccessBlockConfiguration", _public_access),
    ),
    "AWS::SQS::Queue": _row(
        MessageQueue,
        name=_text("QueueName"),
        managed_encryption=_flag("SqsManagedSseEnabled"),
        key=Field("KmsMasterKeyId", lambda value: value.value not in (None, ""), _never),
        retention=_number("MessageRetentionPeriod"),
    ),
}
"""By type, how a resource is read."""


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """A policy that is a resource of its own: ``what`` it is, the property of its name, and those that say of which
    roles, queues or buckets it is."""

    what: str
    name: str
    holders: tuple[str, ...]

    def of(self, resource: Property) -> AccessPolicy | None:
        """The policy of a resource; ``None`` where it is not known."""
        name = (resource / self.name).text() if self.name else None
        policy = (resource / "PolicyDocument").policy(self.what, name)
        if policy is None:
            return None
        holders = [name for path in self.holders for name in (resource / path).names() if name]
        return replace(policy, holders=tuple(holders))


POLICIES: Mapping[str, PolicyRow] = {
    "AWS::IAM::ManagedPolicy": PolicyRow("managed", "ManagedPolicyName", ("Roles",)),
    "AWS::IAM::Policy": PolicyRow("inline", "PolicyName", ("Roles",)),
    "AWS::IAM::RolePolicy": PolicyRow("inline", "PolicyName", ("RoleName",)),
    "AWS::S3::BucketPolicy": PolicyRow("bucket", "", ("Bucket",)),
    "AWS::SQS::QueuePolicy": PolicyRow("queue", "", ("Queues",)),
}

# --- the whole of a file


def read(resources: Sequence[tuple[str, Property]]) -> list[CloudResource | LaunchTemplate]:
    """The resources whose type is read, each with its type in CloudFormation."""
    items: list[CloudResource] = []
    for kind, resource in resources:
        if kind in RESOURCES:
            items.append(RESOURCES[kind].of(resource))
        elif kind in POLICIES:
            policy = POLICIES[kind].of(resource)
            items += [policy] if policy is not None else []
    whole = list(_with_policies(items))
    return [*whole, *_launch_templates(resources, whole)]


def _with_policies(items: Iterable[CloudResource]) -> Iterable[CloudResource]:
    """The items; roles with the policies that attach themselves to them, behind each those within it."""
    attached = [each for each in items if isinstance(each, AccessPolicy) and each.gives_rights]
    for item in items:
        if not isinstance(item, IamRole):
            yield item
            continue
        own = [policy for policy in attached if {item.logical, item.name} & {*policy.holders}]
        inline = [policy for policy in own if policy.what == "inline"]
        managed = [
            policy.logical
            for policy in own
            if policy.what == "managed" and policy.logical not in item.managed
        ]
        yield replace(item, managed=(*item.managed, *managed), inline=(*item.inline, *inline))
        yield from item.inline
        if item.trust is not None:
            yield item.trust


def _launch_templates(
    resources: Iterable[tuple[str, Property]], items: Iterable[CloudResource]
) -> list[LaunchTemplate]:
    """The launch templates, with what the groups of the file say of the machines."""
    templates: list[LaunchTemplate] = []
    starters: list[Starter] = []
    for kind, resource in resources:
        if kind == "AWS::EC2::LaunchTemplate":
            templates.append(launch_template(resource))
        elif kind == "AWS::AutoScaling::AutoScalingGroup":
            starters.append(starter_of_ec2(resource))
    starters += [starter_of_eks(item) for item in items if isinstance(item, NodeGroupStack)]
    return joined(templates, starters)
