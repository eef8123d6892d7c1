"""Every CloudFormation stack has resources and properties that there are, and says what was planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import FSX, SPECS, example, files, plan_of, spec
from trainyard.core.cloud.plan import (
    AccessEntryStack,
    AccessPolicy,
    EventRule,
    IamRole,
    MessageQueue,
    PodIdentityStack,
)
from trainyard.eks.bootstrap import lower as bootstrap
from trainyard.eks.cluster.plan import Bootstrap, Cluster
from trainyard.output.emit.yaml import dump
from trainyard.output.lowering.templates import template
from trainyard.plan import Plan
from trainyard.run.driver import check
from trainyard.run.lower import lower
from trainyard.run.outcome import Options
from trainyard.verify.formats import Setting, lifted, verified
from trainyard.verify.formats.cloudformation.structure import types

ARN = "arn:aws:iam::111122223333:role/{}"
ALL_STORAGE = [
    {"name": "data", "fsxLustre": {"existing": FSX}},
    {"name": "raw", "s3": {"existing": {"bucket": "raw-1"}}},
    {"name": "fast", "s3": {"existing": {"bucket": "fast--usw2-az1--x-s3"}}},
]
CASES = {
    "everything": spec(
        storage=ALL_STORAGE,
        platform={"eks": {"admins": [ARN.format("ops"), ARN.format("path/lead")]}},
        namespaces=[
            {"name": "training", "group": "ml", "principals": [ARN.format("ml"), ARN.format("ops")]}
        ],
        job={
            "mounts": [
                {"storage": each["name"], "path": f"/{each['name']}"} for each in ALL_STORAGE
            ]
        },
    )
}


def plan(name: str) -> Plan:
    return example(name)[1] if name in SPECS else plan_of(CASES[name])


def stacks(made: Plan) -> dict[str, dict[str, Any]]:
    return {
        path: body
        for path, body in files(made).items()
        if isinstance(body, dict) and body.get("AWSTemplateFormatVersion")
    }


@pytest.mark.parametrize("name", ["everything", *SPECS])
def test_no_template_has_a_fault(name: str) -> None:
    """Sections, names, properties, attributes, references and the grammar of policies, by the format's own judge."""
    templates = [each for each in lower(plan(name)) if each.format == "cloudformation"]
    assert templates
    assert verified(templates, Setting()) == []


def test_the_structure_of_every_type_that_is_made_is_known() -> None:
    made = {
        each["Type"]
        for body in stacks(plan("everything")).values()
        for each in body["Resources"].values()
    }
    assert len(made) == 8
    assert made <= types()


@pytest.mark.parametrize("name", ["everything", *SPECS])
def test_what_templates_make_reads_back_as_what_was_planned(name: str) -> None:
    """The law of lift, for what the bootstrap makes: nothing that the plan asks for is lost on the way."""
    made = plan(name)
    boot = made.one(Bootstrap)
    assert boot is not None
    cloud = lifted(lower(made), closed=True).items
    roles = {each.name: each for each in cloud if isinstance(each, IamRole)}
    node = roles[boot.node_role]
    assert node.managed == boot.node_policies
    cluster = made.one(Cluster)
    assert cluster is not None
    of_addons = {arn for addon in cluster.addons for arn in addon.policy_arns}
    assert of_addons.isdisjoint(node.managed), "an add-on has its rights by a role of its own"
    controller = roles[boot.controller_role]
    policies = [each for each in cloud if isinstance(each, AccessPolicy)]
    managed = [each for each in policies if each.what == "managed"]
    assert list(controller.managed) == [each.logical for each in managed]
    planned = [document["Statement"] for document in boot.controller_policies.values()]
    assert [
        [(s.actions, s.resources, dict(s.conditions)) for s in each.statements] for each in managed
    ] == [[said(statement) for statement in several] for several in planned]
    (queue,) = (each for each in cloud if isinstance(each, MessageQueue))
    assert (queue.name, queue.managed_encryption, queue.retention) == (
        boot.interruption_queue,
        True,
        boot.queue["MessageRetentionPeriod"],
    )
    rules = [each for each in cloud if isinstance(each, EventRule)]
    assert [list(each.detail_types) for each in rules] == [
        each["detail-type"] for each in boot.interruption_rules.values()
    ]
    assert {each.targets for each in rules} == {(queue.logical,)}
    entries = [each for each in cloud if isinstance(each, AccessEntryStack) and each.logical]
    assert {(each.principal, each.groups) for each in entries} == {
        (each.principal, each.groups) for each in boot.access
    }
    assert {each.cluster for each in entries} <= {boot.cluster}
    drivers = [each for each in cloud if isinstance(each, PodIdentityStack)]
    bound = [(each.namespace, each.service_account) for each in drivers]
    assert len(bound) == len(set(bound))
    # Logs, costs and secrets have stacks of their own beside them.
    assert {(each.namespace, each.service_account) for each in boot.drivers} <= set(bound)


def said(statement: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """What a statement of the plan allows, and on which keys."""
    return (
        several(statement["Action"]),
        several(statement["Resource"]),
        {name: tuple(keys) for name, keys in statement.get("Condition", {}).items()},
    )


def several(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"NodeRole": {"Type": "AWS::IAM::Role", "Properties": {}}}, "SCH003"),
        ({"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"Name": "a"}}}, "SCH001"),
        (
            {"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"SqsManagedSseEnabled": False}}},
            "ACC009",
        ),
    ],
)
def test_a_fault_of_our_own_template_is_reported_in_the_spec(
    changed: dict[str, Any], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "stack", lambda boot: template("faulty", changed))
    file = tmp_path / "spec.yaml"
    file.write_text(yaml.safe_dump(spec(name="lab"), sort_keys=False))
    found = [
        each
        for each in check([file], Options(output=tmp_path / "generated")).all()
        if each.object == "Template/bootstrap/stack.yaml"
    ]
    assert [each.code for each in found] == [code]
    span = found[0].span
    assert span is not None
    assert span.file.line(span.line).strip() == "name: lab"
    assert any("rendered as `Resources." in note for note in found[0].notes)


NAMED = ("bootstrap/stack.yaml", "bootstrap/stacks/external-secrets.yaml")
"""Stacks with a role of a name of its own; pages of the bootstrap give them CAPABILITY_NAMED_IAM."""


@pytest.mark.parametrize("name", ["everything", *SPECS])
def test_stacks_are_small_enough_to_be_given_as_files(name: str) -> None:
    """51,200 bytes a template, 128 characters a name, ten policies a role, named roles in two stacks alone
    (CloudFormation user guide, quotas; CloudFormation API, CreateStack; IAM user guide, quotas)."""
    for path, body in stacks(plan(name)).items():
        assert len(dump(body)) < 51_200, path
        roles = [
            each["Properties"]
            for each in body["Resources"].values()
            if each["Type"] == "AWS::IAM::Role"
        ]
        assert all(len(each.get("ManagedPolicyArns", ())) <= 10 for each in roles)
        assert path in NAMED or not any("RoleName" in each for each in roles)


def test_a_principal_of_two_namespaces_has_one_entry() -> None:
    """EKS takes one entry for each principal (EKS API, CreateAccessEntry)."""
    both = [{"name": name, "group": name, "principals": [ARN.format("ml")]} for name in ("a", "b")]
    made = plan_of(
        spec(
            platform={"eks": {"admins": [ARN.format("ml")]}},
            namespaces=both,
            job={"namespace": "a"},
            queues=[
                {"name": "q", "namespaces": ["a", "b"], "quota": [{"pool": "gpu", "nodes": 4}]}
            ],
        )
    )
    (entry,) = [
        each["Properties"]
        for body in stacks(made).values()
        for each in body["Resources"].values()
        if each["Type"] == "AWS::EKS::AccessEntry"
    ]
    assert entry["PrincipalArn"] == ARN.format("ml")
    assert {"a", "b"} <= set(entry["KubernetesGroups"])
    assert entry["AccessPolicies"][0]["AccessScope"] == {"Type": "cluster"}


def test_a_directory_bucket_gives_sessions() -> None:
    """Mountpoint for Amazon S3, doc/CONFIGURATION.md, directory buckets."""
    found = stacks(plan("everything"))["bootstrap/stacks/bucket-fast.yaml"]["Resources"]["Policy"][
        "Properties"
    ]
    (statement,) = found["PolicyDocument"]["Statement"]
    assert statement["Action"] == ["s3express:CreateSession"]
    assert (
        statement["Resource"]
        == "arn:aws:s3express:us-west-2:111122223333:bucket/fast--usw2-az1--x-s3"
    )
