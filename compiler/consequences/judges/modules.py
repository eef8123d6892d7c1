"""Resources of Terraform: the provider publishes no list of arguments that force another resource, so a change of one
that holds data or nodes is not known before ``terraform plan``.

Sources: hashicorp/aws 6.25.0, resource pages; Terraform language, ``lifecycle`` (``prevent_destroy``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from compiler.edits.change import Action, Consequence, Effect
from compiler.edits.edit import Edit
from compiler.edits.judge import Judge
from compiler.edits.thing import MODULE
from compiler.formats.terraform.structure import types
from compiler.output.body import at
from compiler.output.fields import Steps

_PROVIDER = "hashicorp/aws 6.25.0"
_LANGUAGE = "Terraform language, lifecycle"
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


def _rights(edit: Edit, steps: Steps) -> Effect | None:
    if steps[:1] == ("tags",):
        return Effect(Consequence.HARMLESS, "a tag changes nothing that runs", _PROVIDER)
    return Effect(Consequence.ACCESS, "it says who may do or reach what in AWS", _PROVIDER)


def _data(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.COST, "it is made, and paid for what it holds", _PROVIDER)
    if edit.action is Action.REMOVED:
        if at(edit.old, "lifecycle", "prevent_destroy") is True:
            return Effect(
                Consequence.HARMLESS, "`prevent_destroy` keeps it with its data", _LANGUAGE
            )
        return Effect(
            Consequence.DESTROYS_DATA, "Terraform destroys what leaves a module", _LANGUAGE
        )
    return _plain(edit, steps)


def _plain(edit: Edit, steps: Steps) -> Effect | None:
    if edit.action is Action.ADDED:
        return Effect(Consequence.HARMLESS, "it is new: nothing that exists rests on it", _PROVIDER)
    if steps[:1] in (("tags",), ("depends_on",)):
        return Effect(Consequence.HARMLESS, "it makes no resource another", _PROVIDER)
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
    return _plain


@cache
def _kinds() -> Mapping[str, Judge]:
    return {kind: _judge(kind) for kind in types()}


KINDS: Mapping[str, Judge] = {**_kinds(), MODULE: _module}
