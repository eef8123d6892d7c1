"""What the AWS provider, or Terraform, refuses in a module of third parties; and what is read of one."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from trainyard.core.cloud.plan import AccessEntryStack, Bucket, IamRole
from trainyard.extensions.lint.linter import lint
from trainyard.output import Artifact
from trainyard.run.outcome import Options
from trainyard.verify.formats import lifted

QUEUE: dict[str, Any] = {"aws_sqs_queue": {"q": {"name": "x"}}}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        # one under its name in a list, and what is no resource
        (
            {"resource": {"aws_sqs_queue": {"q": [{"nam": "x"}]}}},
            [("SCH001", "`aws_sqs_queue` has no argument `nam`")],
        ),
        (
            {"resource": {"aws_sqs_queue": {"q": 7, "r": ["x", "y"]}}},
            [("SCH002", "`q` is `7`, not a mapping"), ("SCH002", "`r` is a list, not a mapping")],
        ),
        # types, labels and sections of other forms, beside what is read
        ({"resource": {**QUEUE, "aws_s3_bucket": 7, "aws_unheard_of": {"a": {"b": 1}}}}, []),
        ({"resource": 7, "data": {"aws_region": {"a": {}}}}, []),
        # values of another type
        (
            {
                "resource": {
                    "aws_sqs_queue": {
                        "q": {
                            "name": ["x"],
                            "delay_seconds": True,
                            "max_message_size": {},
                            "fifo_queue": "maybe",
                            "tags": {"a": None, "b": ["c"]},
                        }
                    }
                }
            },
            [
                ("SCH002", "`name` is a list, not a text"),
                ("SCH002", "`delay_seconds` is `true`, not a number"),
                ("SCH002", "`max_message_size` is a mapping, not a number"),
                ("SCH002", '`fifo_queue` is `"maybe"`, not `true` or `false`'),
                ("SCH002", "`b` is a list, not a text"),
            ],
        ),
        # blocks: one at most, filled in later, and none
        (
            {
                "resource": {
                    "aws_ecr_repository": {
                        "one": {"name": "a", "image_scanning_configuration": [{}, {}]},
                        "two": {"name": "b", "image_scanning_configuration": 7},
                        "three": {"name": "c", "image_scanning_configuration": ["${var.a}"]},
                    }
                }
            },
            [
                ("SCH002", "`image_scanning_configuration` is a list, not one block"),
                ("SCH002", "`image_scanning_configuration` is `7`, not a block"),
            ],
        ),
    ],
)
def test_what_is_of_another_form_is_reported_or_passed_over(
    body: dict[str, Any], found: list[tuple[str, str]], tmp_path: Path
) -> None:
    (tmp_path / "main.tf.json").write_text(json.dumps(body))
    reported = lint([tmp_path], Options(today=date(2026, 11, 27))).diagnostics
    assert [
        (each.code, each.message)
        for each in reported
        if each.code.startswith("SCH") and "`scan_on_push` of" not in each.message
    ] == found


def cloud(resources: dict[str, Any]) -> list[Any]:
    artifact = Artifact({"resource": resources}, "main.tf.json", format="terraform")
    return list(lifted([artifact], closed=False).items)


@pytest.mark.parametrize(
    ("scanning", "scan"),
    [
        ({"scan_on_push": True}, True),
        ([{"scan_on_push": "false"}], False),
        ("${var.scanning}", None),
        (None, None),
    ],
)
def test_a_flag_may_be_a_text(scanning: Any, scan: bool | None) -> None:
    repository = {"name": "a", "image_scanning_configuration": scanning}
    (found,) = cloud({"aws_ecr_repository": {"a": repository}})
    assert found.scan is scan


def test_what_an_expression_makes_is_unknown() -> None:
    roles = {
        name: {"name": name, "assume_role_policy": trust}
        for name, trust in (("made", "${data.aws_iam_policy_document.a.json}"), ("none", "[]"))
    }
    made, none = cloud({"aws_iam_role": roles})
    assert (made.trust, none.trust) == (None, None)
    rule = {"name": "a", "event_pattern": "${jsonencode(local.pattern)}"}
    (found,) = cloud({"aws_cloudwatch_event_rule": {"a": rule}})
    assert found.detail_types == ()


def test_what_a_dynamic_block_makes_is_unknown_and_not_absent() -> None:
    made = {"for_each": "${var.blocks}", "content": {}}
    group, template = cloud(
        {
            "aws_security_group": {
                "a": {"dynamic": {"egress": made}, "ingress": {"protocol": "-1"}}
            },
            "aws_launch_template": {"a": {"dynamic": {"network_interfaces": made}}},
        }
    )
    assert group.unread == {"rules"}
    assert [(rule.outgoing, rule.protocol) for rule in group.rules] == [(False, "-1"), (True, None)]
    assert template.unread == {"interfaces"}


def test_what_stands_beside_a_resource_is_its_own_where_it_names_it() -> None:
    flags = {"block_public_acls": "${var.acls}", "block_public_policy": "true"}
    inline = {"name": "p", "role": "${aws_iam_role.b.name}", "policy": '{"Statement": []}'}
    entry = {"cluster_name": "c", "principal_arn": "arn:a"}
    association = {"cluster_name": "c", "principal_arn": "arn:b", "policy_arn": "arn:p"}
    found = cloud(
        {
            "aws_s3_bucket": {"a": {"bucket": "a"}, "b": {"bucket": "b"}},
            "aws_s3_bucket_public_access_block": {
                "b": {"bucket": "${aws_s3_bucket.b.id}", **flags}
            },
            "aws_iam_role": {"a": {"name": "a"}, "b": {"name": "b"}},
            "aws_iam_role_policy": {"p": inline},
            "aws_eks_access_entry": {"a": entry, "b": {**entry, "principal_arn": "arn:b"}},
            "aws_eks_access_policy_association": {"b": association},
        }
    )
    buckets = [each.public_access for each in found if isinstance(each, Bucket)]
    assert dict(buckets[0]) == {}
    assert dict(buckets[1]) == {
        "BlockPublicPolicy": True,
        "IgnorePublicAcls": False,
        "RestrictPublicBuckets": False,
    }
    roles = [each for each in found if isinstance(each, IamRole)]
    assert [[policy.name for policy in role.inline] for role in roles] == [[], ["p"]]
    entries = [each for each in found if isinstance(each, AccessEntryStack)]
    assert [each.policies for each in entries] == [(), ("arn:p",)]
