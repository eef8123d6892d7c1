"""Policies on what templates make: what they find beside the examples of their pages, and what they leave alone."""

from __future__ import annotations

import pytest
from trainyard.catalog.iam import limited_actions
from trainyard.core.cloud.plan import AccessPolicy
from trainyard.run.lower import lower
from trainyard.verify.formats import Setting, lifted, verified

from tests.builders import plan_of, spec
from tests.policy.harness import findings_for


def statement(text: str) -> str:
    """A managed policy of one statement."""
    return (
        "Resources:\n  Policy:\n    Type: AWS::IAM::ManagedPolicy\n    Properties:\n"
        f"      PolicyDocument: {{Statement: [{text}]}}\n"
    )


def trust(text: str) -> str:
    return (
        "Resources:\n  Role:\n    Type: AWS::IAM::Role\n    Properties:\n"
        f"      AssumeRolePolicyDocument: {{Statement: [{text}]}}\n"
    )


def codes(text: str) -> list[str]:
    return sorted(each.code for each in findings_for(text))


@pytest.mark.parametrize(
    "text",
    [
        statement('{Effect: Deny, Action: "*", Resource: "*"}'),
        statement('{Effect: !Ref Effect, Action: "*", Resource: "*"}'),
        statement('{Effect: Allow, Action: !Ref Actions, Resource: "*"}'),
        statement('{Effect: Allow, Action: "ec2:RunInstances", Resource: !Ref Arns}'),
        statement('{Effect: Allow, Action: "ec2:RunInstances", Resource: !Sub "${A}*"}'),
        statement('{Effect: Allow, Action: ["ec2:Describe*"], Resource: "*"}'),
        statement('{Effect: Allow, Action: ["pricing:*Products"], Resource: "*"}'),
        statement('{Effect: Allow, Action: "other:DeleteAll", Resource: "*"}'),
        statement('{Effect: Allow, Action: "ec2:DeleteVpc", Resource: "*", Condition: !Ref C}'),
        trust('{Effect: Allow, Principal: !Ref Who, Action: "sts:AssumeRole"}'),
        trust(
            '{Effect: Allow, Principal: {AWS: !Sub "arn:${AWS::Partition}:iam::1:root"}, Action: "sts:AssumeRole"}'
        ),
        trust(
            '{Effect: Allow, Principal: {AWS: "*"}, Action: "sts:AssumeRole", '
            'Condition: {StringEquals: {"sts:ExternalId": !Ref Id}}}'
        ),
        trust(
            '{Effect: Allow, Principal: {AWS: "*"}, Action: "sts:AssumeRole", Condition: !Ref C}'
        ),
        "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {SqsManagedSseEnabled: !Ref A}}}",
        "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {SqsManagedSseEnabled: false, KmsMasterKeyId: !Ref K}}}",
        "Resources: {B: {Type: AWS::S3::Bucket, Properties: {PublicAccessBlockConfiguration: !Ref A}}}",
        "Resources: {A: {Type: AWS::IAM::Role}, B: 1, C: [], D: {Type: [a]}}",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # a policy in a text of JSON, and a statement alone
        (
            "Resources: {P: {Type: AWS::IAM::ManagedPolicy, Properties: {PolicyDocument: "
            """'{"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}'}}}""",
            ["ACC006"],
        ),
        (statement('{Effect: Allow, Action: ["s3:*", "ec2:*"], Resource: "*"}'), ["ACC006"] * 2),
        (
            statement('{Effect: Allow, Action: "EC2:terminateinstances", Resource: ["*"]}'),
            ["ACC007"],
        ),
        (statement('{Effect: Allow, Action: "ec2:Delete?pc", Resource: "*"}'), ["ACC007"]),
        (trust('{Effect: Allow, Principal: "*", Action: "sts:AssumeRole"}'), ["ACC008"]),
        (
            trust(
                '{Effect: Allow, Principal: {AWS: [a, "*"]}, Action: "sts:AssumeRole", '
                'Condition: {Bool: {"aws:SecureTransport": "true"}}}'
            ),
            ["ACC008"],
        ),
        (
            "Resources: {B: {Type: AWS::S3::BucketPolicy, Properties: {Bucket: b, PolicyDocument: "
            '{Statement: [{Effect: Allow, Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::b/*"}]}}}}',
            ["ACC008"],
        ),
        (
            'Resources: {Q: {Type: AWS::SQS::Queue, Properties: {SqsManagedSseEnabled: "False"}}}',
            ["ACC009"],
        ),
    ],
)
def test_what_is_found(text: str, found: list[str]) -> None:
    assert codes(text) == found


def test_everything_on_everything_is_an_error() -> None:
    (worst,) = findings_for(statement('{Effect: Allow, Action: "*", Resource: "*"}'))
    (broad,) = findings_for(statement('{Effect: Allow, Action: "*", Resource: a}'))
    assert worst.severity > broad.severity


@pytest.mark.parametrize("quota", ["managed", "trust"])
def test_the_longest_policy_that_iam_takes(quota: str) -> None:
    most = {"managed": 6_144, "trust": 2_048}[quota]
    head = "ec2.amazonaws.com" if quota == "trust" else "arn:aws:s3:::a"
    make = {
        "managed": lambda text: statement(
            f'{{Effect: Allow, Action: "s3:GetObject", Resource: "{text}"}}'
        ),
        "trust": lambda text: trust(
            f'{{Effect: Allow, Principal: {{Service: "{text}"}}, Action: "sts:AssumeRole"}}'
        ),
    }[quota]
    rest = len('{"Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":""}]}')
    if quota == "trust":
        rest = len(
            '{"Statement":[{"Effect":"Allow","Principal":{"Service":""},"Action":"sts:AssumeRole"}]}'
        )
    room = most - rest - len(head)
    assert codes(make(head + "a" * room)) == []
    assert codes(make(head + " " + "a" * room)) == []  # white space does not count
    assert codes(make(head + "a" * (room + 1))) == ["ACC011"]


def test_actions_that_can_be_limited() -> None:
    """AWS service authorization reference: EC2, IAM, Pricing."""
    assert "runinstances" in limited_actions("ec2")
    assert "passrole" in limited_actions("iam")
    assert "describeinstances" not in limited_actions("ec2")
    assert limited_actions("pricing") == frozenset()


def test_the_longest_name_of_a_cluster_fits_every_quota() -> None:
    """It stands in role names, and many times in Karpenter's policies."""
    artifacts = lower(plan_of(spec(name="a" * 40)))
    templates = [each for each in artifacts if each.format == "cloudformation"]
    assert verified(templates, Setting()) == []
    found = lifted(templates, closed=True).items
    sizes = [each.characters for each in found if isinstance(each, AccessPolicy)]
    assert 2_048 < max(sizes) < 6_144
