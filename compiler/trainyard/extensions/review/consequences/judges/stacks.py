"""Resources of CloudFormation, which ``up.sh`` applies: nothing of a stack changes before somebody runs it.

Sources: CloudFormation user guide, ``DeletionPolicy`` and ``UpdateReplacePolicy`` (``Retain`` keeps a resource that
leaves its stack, or is replaced); provider schemas, ``createOnlyProperties`` (which are ``fixed`` here); FSx, S3, ECR
and CloudWatch Logs user guides for what shortens the life of data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge, of_expiry
from trainyard.extensions.review.edits.thing import STACK
from trainyard.output.body import value_at
from trainyard.output.fields import Steps
from trainyard.run.history.replaced import NEVER_CHANGES
from trainyard.verify.formats.cloudformation.structure import structure

_GUIDE = "CloudFormation user guide"
_SCHEMAS = "CloudFormation provider schemas, createOnlyProperties"
_RETAINED = ("Retain", "RetainExceptOnCreate", "Snapshot")
_EXPIRY = {
    "AWS::S3::Bucket": ("LifecycleConfiguration", "S3 user guide, lifecycle"),
    "AWS::ECR::Repository": ("LifecyclePolicy", "ECR user guide, lifecycle policies"),
    "AWS::APS::Workspace": (
        "RetentionPeriodInDays",
        "Managed Service for Prometheus, workspace configuration",
    ),
    "AWS::Logs::LogGroup": ("RetentionInDays", "CloudWatch Logs user guide, retention"),
    "AWS::FSx::FileSystem": ("AutomaticBackupRetentionDays", "FSx for Lustre user guide, backups"),
}
"""The property by which objects, images, lines or backups are deleted after a time."""
_WHO = frozenset(
    {
        *("PublicAccessBlockConfiguration", "OwnershipControls", "AccessControl"),
        *("RepositoryPolicyText", "KeyPolicy", "PolicyDocument", "SecurityGroupIds"),
    }
)
"""Properties that say who may use a bucket, repository, key or endpoint."""
_RIGHT = Effect(
    Consequence.ACCESS, "it says who may do or reach what in AWS", "IAM, EKS and VPC user guides"
)
_SIZES = frozenset(
    {
        *("StorageCapacity", "PerUnitStorageThroughput", "MetadataConfiguration"),
        *("ThroughputCapacity", "DataReadCacheConfiguration"),
    }
)
_OF_NEW_DATA = Effect(
    Consequence.HARMLESS,
    "what is written from then on is compressed or not; what is there stays as it is",
    "FSx for Lustre user guide, data-compression",
)
_AT_A_TIME = Effect(
    Consequence.HARMLESS,
    "only when AWS maintains it, or makes backups",
    "FSx API, UpdateFileSystemLustreConfiguration",
)
_OF_LUSTRE = {
    "DataCompressionType": _OF_NEW_DATA,
    "DailyAutomaticBackupStartTime": _AT_A_TIME,
    "WeeklyMaintenanceStartTime": _AT_A_TIME,
}
"""Settings of FSx for Lustre that cost nothing."""
_TAGS = Effect(Consequence.HARMLESS, "a tag changes nothing that runs", _GUIDE)


def _common(edit: Edit, steps: Steps) -> Effect | None:
    """What holds whatever the type: tags, who may use the resource, and the policies of the resource itself."""
    if steps[:2] == ("Properties", "Tags") and not _is_fixed(edit, steps):
        return _TAGS
    if steps[:1] in (("DeletionPolicy",), ("UpdateReplacePolicy",)):
        return Effect(Consequence.UNKNOWN, "it decides what is kept when the resource goes", _GUIDE)
    if steps[:1] == ("DependsOn",):
        return Effect(Consequence.HARMLESS, "only the order in which resources are made", _GUIDE)
    if len(steps) > 1 and steps[1] in _WHO and not _is_fixed(edit, steps):
        return _RIGHT
    return None


def _is_fixed(edit: Edit, steps: Steps) -> bool:
    """Whether another value of a property makes another resource."""
    known = structure(edit.thing.kind)
    if known is None or steps[:1] != ("Properties",):
        return False
    fixed = (*known.fixed, *NEVER_CHANGES.get(edit.thing.kind, ()))
    path = "/".join(step for step in steps[1:] if isinstance(step, str))
    return any(path == each or path.startswith(f"{each}/") for each in fixed)


def _is_kept(edit: Edit, policy: str) -> bool:
    return edit.old.get(policy) in _RETAINED


def _data(edit: Edit, steps: Steps) -> Effect | None:
    """Buckets, file systems, images, logs and keys."""
    if edit.action is Action.ADDED:
        return Effect(Consequence.COST, "it is made, and paid for what it holds", _GUIDE)
    if edit.action is Action.REMOVED:
        if _is_kept(edit, "DeletionPolicy"):
            return Effect(Consequence.HARMLESS, "its DeletionPolicy keeps it with its data", _GUIDE)
        return Effect(
            Consequence.DESTROYS_DATA, "it goes with its stack: no DeletionPolicy keeps it", _GUIDE
        )
    if _is_fixed(edit, steps):
        if _is_kept(edit, "UpdateReplacePolicy"):
            return Effect(
                Consequence.UNKNOWN,
                "another one is made, which is empty; the old one is kept with its data",
                _SCHEMAS,
                replaces=True,
            )
        return Effect(
            Consequence.DESTROYS_DATA,
            "another one is made, and this one deleted",
            _SCHEMAS,
            replaces=True,
        )
    expiry, source = _EXPIRY.get(edit.thing.kind, ("", ""))
    if expiry and expiry in steps:
        return of_expiry(edit, steps, source)
    if edit.thing.kind == "AWS::FSx::FileSystem" and not _SIZES.isdisjoint(steps):
        return Effect(Consequence.COST, "its size or throughput is paid", "FSx user guide, pricing")
    for key, effect in _OF_LUSTRE.items():
        if key in steps:
            return effect
    return _common(edit, steps)


def _rights(edit: Edit, steps: Steps) -> Effect | None:
    """Roles, policies, entries, security groups: also what Pods act as."""
    common = _common(edit, steps) if edit.action is Action.CHANGED else None
    if common is not None:
        return common
    if (
        edit.action is Action.CHANGED
        and steps[-1:] == ("Description",)
        and not _is_fixed(edit, steps)
    ):
        return Effect(Consequence.HARMLESS, "only what people read")
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.ACCESS,
            "whom it lets in is let out once somebody applies its stack, or deletes it",
            _GUIDE,
        )
    return dataclasses.replace(_RIGHT, replaces=_is_fixed(edit, steps))


def _paid(edit: Edit, steps: Steps) -> Effect | None:
    body = edit.new or edit.old
    if value_at(body, "Properties", "VpcEndpointType") == "Gateway":  # those of S3 are free
        return _plain(edit, steps)
    common = _common(edit, steps) if edit.action is Action.CHANGED else None
    if common is not None:
        return common
    return Effect(
        Consequence.COST,
        "it is paid, or bounds what is paid",
        "AWS pricing",
        replaces=_is_fixed(edit, steps),
    )


def _nodes(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(
            Consequence.COST, "its nodes are bought", "EKS user guide, managed node groups"
        )
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.REPLACES_NODES,
            "its nodes are drained and end",
            "EKS user guide, managed node groups",
        )
    if _is_fixed(edit, steps):
        return Effect(Consequence.REPLACES_NODES, "another group is made", _SCHEMAS, replaces=True)
    if "ScalingConfig" in steps:
        return Effect(Consequence.COST, "the number of nodes", "EKS API, UpdateNodegroupConfig")
    return _common(edit, steps)


def _launches(edit: Edit, steps: Steps) -> Effect | None:
    """Launch templates: another version, which groups take that name no other."""
    is_setting = steps[:2] == ("Properties", "LaunchTemplateData")
    if edit.action is Action.CHANGED and is_setting:
        return Effect(
            Consequence.REPLACES_NODES,
            "node groups that take its newest version replace their nodes",
            "EKS user guide, launch-templates",
        )
    return _plain(edit, steps)


def _plain(edit: Edit, steps: Steps) -> Effect | None:
    """Types of which nothing but their making is known."""
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "it is new: nothing that exists rests on it", _GUIDE)
    if edit.action is Action.REMOVED:
        if _is_kept(edit, "DeletionPolicy"):
            return Effect(Consequence.HARMLESS, "its DeletionPolicy keeps it", _GUIDE)
        return None
    if _is_fixed(edit, steps):
        return Effect(
            Consequence.UNKNOWN, "another one is made in its place", _SCHEMAS, replaces=True
        )
    return _common(edit, steps)


def _template(edit: Edit, steps: Steps) -> Effect | None:
    """What a template says beside its resources."""
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "its resources are listed by themselves", _GUIDE)
    if edit.action is Action.REMOVED:
        return Effect(
            Consequence.HARMLESS,
            "its stack stays in AWS until somebody deletes it: `up.sh` lists it under `left`",
        )
    if steps[:1] in (("Description",), ("Metadata",), ("Outputs",)):
        return Effect(Consequence.HARMLESS, "it makes no resource another", _GUIDE)
    return None


_DATA = (
    *("S3::Bucket", "FSx::FileSystem", "ECR::Repository", "Logs::LogGroup", "KMS::Key"),
    *("APS::Workspace", "Grafana::Workspace"),
)
_RIGHTS = (
    *("IAM::Role", "IAM::RolePolicy", "IAM::Policy", "IAM::ManagedPolicy", "IAM::InstanceProfile"),
    *("EKS::AccessEntry", "EKS::PodIdentityAssociation", "S3::BucketPolicy", "SQS::QueuePolicy"),
    *("EC2::SecurityGroup", "EC2::SecurityGroupIngress", "EC2::SecurityGroupEgress"),
)
_PAID = (
    *("Budgets::Budget", "CloudWatch::Alarm", "EC2::NatGateway", "EC2::EIP", "EC2::VPCEndpoint"),
)
_PLAIN = (
    *(
        "APS::RuleGroupsNamespace",
        "CodeBuild::Project",
        "Events::Rule",
        "SQS::Queue",
        "FSx::DataRepositoryAssociation",
    ),
    *("DLM::LifecyclePolicy", "ECR::PullThroughCacheRule", "KMS::Alias", "EC2::PlacementGroup"),
    "EKS::Cluster",
    *("EC2::VPC", "EC2::Subnet", "EC2::Route", "EC2::RouteTable", "EC2::InternetGateway"),
    *("EC2::SubnetRouteTableAssociation", "EC2::VPCGatewayAttachment"),
)
KINDS: Mapping[str, Judge] = {
    **{f"AWS::{name}": _data for name in _DATA},
    **{f"AWS::{name}": _rights for name in _RIGHTS},
    **{f"AWS::{name}": _paid for name in _PAID},
    **{f"AWS::{name}": _plain for name in _PLAIN},
    "AWS::EKS::Nodegroup": _nodes,
    "AWS::EC2::LaunchTemplate": _launches,
    STACK: _template,
}
