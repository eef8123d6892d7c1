"""Resources of Terraform: the provider publishes no list of arguments that force another resource, so a change of one
that holds data or nodes is not known before ``terraform plan``.

Sources: hashicorp/aws 6.25.0, resource pages; Terraform language, ``lifecycle`` (``prevent_destroy``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from trainyard.extensions.forecast.change import Action, Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge, of_expiry
from trainyard.extensions.review.edits.thing import MODULE
from trainyard.extensions.terraform.formats.terraform.structure import types
from trainyard.output.body import value_at
from trainyard.output.fields import Steps

_PROVIDER = "hashicorp/aws 6.25.0"
_LANGUAGE = "Terraform language, lifecycle"
_NODE_GROUPS = "EKS user guide, managed node groups"
_RIGHTS = (
    "aws_iam_",
    "aws_eks_access_",
    "aws_eks_pod_identity_",
    "aws_security_group",
    "aws_vpc_security_group",
)
_POLICIES = ("aws_s3_bucket_policy", "aws_s3_bucket_public_access_block", "aws_sqs_queue_policy")
_DATA = (
    *(
        "aws_s3_bucket",
        "aws_fsx_lustre_file_system",
        "aws_ecr_repository",
        "aws_cloudwatch_log_group",
    ),
    *("aws_kms_key", "aws_prometheus_workspace", "aws_grafana_workspace"),
)
_PAID = ("aws_eip", "aws_nat_gateway", "aws_vpc_endpoint")
_EXPIRY = {
    "aws_s3_bucket_lifecycle_configuration": ("rule", "S3 user guide, lifecycle"),
    "aws_ecr_lifecycle_policy": ("policy", "ECR user guide, lifecycle policies"),
    "aws_prometheus_workspace_configuration": (
        "retention_period_in_days",
        "Managed Service for Prometheus, workspace configuration",
    ),
    "aws_cloudwatch_log_group": ("retention_in_days", "CloudWatch Logs user guide, retention"),
    "aws_fsx_lustre_file_system": (
        "automatic_backup_retention_days",
        "FSx for Lustre user guide, backups",
    ),
}
"""The argument by which objects, images, samples, lines or backups are deleted after a time. The provider changes each
of them in place."""
_WHO = (
    ("aws_kms_key", "policy"),
    ("aws_s3_bucket_ownership_controls", "rule"),
    ("aws_vpc_endpoint", "policy"),
    ("aws_vpc_endpoint", "security_group_ids"),
)
"""Arguments that say who may use a resource, and make it no other."""
_RIGHT = Effect(Consequence.ACCESS, "it says who may do or reach what in AWS", _PROVIDER)


def _rights(edit: Edit, steps: Steps) -> Effect | None:
    if steps[:1] == ("tags",):
        return Effect(Consequence.HARMLESS, "a tag changes nothing that runs", _PROVIDER)
    return _RIGHT


def _data(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.COST, "it is made, and paid for what it holds", _PROVIDER)
    if edit.action is Action.REMOVED:
        if value_at(edit.old, "lifecycle", "prevent_destroy") is True:
            return Effect(
                Consequence.HARMLESS, "`prevent_destroy` keeps it with its data", _LANGUAGE
            )
        return Effect(
            Consequence.DESTROYS_DATA, "Terraform destroys what leaves a module", _LANGUAGE
        )
    return _plain(edit, steps)


def _paid(edit: Edit, steps: Steps) -> Effect | None:
    is_free = (edit.new or edit.old).get("vpc_endpoint_type") == "Gateway"  # those of S3
    if edit.action is not Action.CHANGED and not is_free:
        return Effect(Consequence.COST, "it is paid", "AWS pricing")
    return _plain(edit, steps)


def _nodes(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.COST, "its nodes are bought", _NODE_GROUPS)
    if edit.action is Action.REMOVED:
        return Effect(Consequence.REPLACES_NODES, "its nodes are drained and end", _NODE_GROUPS)
    if steps[:1] == ("scaling_config",):
        return Effect(Consequence.COST, "the number of nodes", "EKS API, UpdateNodegroupConfig")
    return _plain(edit, steps)


def _plain(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "it is new: nothing that exists rests on it", _PROVIDER)
    expiry, source = _EXPIRY.get(edit.thing.kind, ("", ""))
    if expiry and steps[:1] == (expiry,):
        return of_expiry(edit, steps, source)
    if steps[:1] in (("tags",), ("depends_on",)):
        return Effect(Consequence.HARMLESS, "it makes no resource another", _PROVIDER)
    if (edit.thing.kind, *steps[:1]) in _WHO:
        return _RIGHT
    return Effect(
        Consequence.UNKNOWN, "`terraform plan` says whether the resource is replaced", _PROVIDER
    )


def _module(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is not Action.CHANGED:
        return Effect(Consequence.HARMLESS, "its resources are listed by themselves", _LANGUAGE)
    if steps[:1] in (("output",), ("locals",), ("data",), ("variable",)):
        return Effect(
            Consequence.HARMLESS,
            "resources that it makes another are listed by themselves",
            _LANGUAGE,
        )
    return None


def _judge(kind: str) -> Callable[[Edit, Steps], Effect | None]:
    if kind in _DATA:
        return _data
    if kind.startswith(_RIGHTS) or kind in _POLICIES:
        return _rights
    if kind == "aws_eks_node_group":
        return _nodes
    return _paid if kind in _PAID else _plain


@cache
def _kinds() -> Mapping[str, Judge]:
    return {kind: _judge(kind) for kind in types()}


KINDS: Mapping[str, Judge] = {**_kinds(), MODULE: _module}
