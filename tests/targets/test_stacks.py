"""Every CloudFormation stack has resources and properties that there are (structure: ``cloudformation.py``)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from builders import FSX, SPECS, example, files, plan_of, spec
from jsonschema import Draft7Validator

from compiler.emit.yaml import dump
from compiler.plan import Plan

from .cloudformation import TYPES, WRITTEN

STRUCTURE: dict[str, Any] = json.loads(WRITTEN.read_text())
ARN = "arn:aws:iam::111122223333:role/{}"
ALL_STORAGE = [
    {"name": "data", "fsxLustre": FSX},
    {"name": "raw", "s3": {"bucket": "raw-1"}},
    {"name": "fast", "s3": {"bucket": "fast--usw2-az1--x-s3"}},
]
CASES = {
    "everything": spec(
        storage=ALL_STORAGE,
        admins=[ARN.format("ops"), ARN.format("path/lead")],
        namespaces=[
            {
                "name": "training",
                "group": "ml",
                "principals": [ARN.format("ml"), ARN.format("ops")],
            }
        ],
        job={
            "mounts": [
                {"storage": each["name"], "path": f"/{each['name']}"}
                for each in ALL_STORAGE
            ]
        },
    ),
}


def plan(name: str) -> Plan:
    return example(name)[1] if name in SPECS else plan_of(CASES[name])


def stacks(made: Plan) -> dict[str, dict[str, Any]]:
    return {
        path: body
        for path, body in files(made).items()
        if isinstance(body, dict) and body.get("AWSTemplateFormatVersion")
    }


def settled(value: Any) -> Any:
    """A body with an ARN where CloudFormation puts the value of a function."""
    if isinstance(value, list):
        return [settled(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() <= {"Ref", "Fn::GetAtt"} and value:
        return ARN.format("made")
    return {key: settled(each) for key, each in value.items()}


@pytest.mark.parametrize("name", ["everything", *SPECS])
def test_every_resource_has_properties_that_there_are(name: str) -> None:
    for path, body in stacks(plan(name)).items():
        for logical, resource in body["Resources"].items():
            schema = STRUCTURE[resource["Type"]]
            wrong = [
                each.message
                for each in Draft7Validator(schema).iter_errors(
                    settled(resource["Properties"])
                )
            ]
            assert wrong == [], (path, logical)
            read_only = {
                each.removeprefix("/properties/")
                for each in schema.get("readOnlyProperties", [])
            }
            assert not read_only & set(resource["Properties"]), (path, logical)


def test_every_type_of_the_structure_is_made() -> None:
    made = {
        each["Type"]
        for body in stacks(plan("everything")).values()
        for each in body["Resources"].values()
    }
    assert made == set(TYPES) == STRUCTURE.keys() - {"source"}


@pytest.mark.parametrize("name", ["everything", *SPECS])
def test_references_are_to_resources_of_the_same_stack(name: str) -> None:
    for path, body in stacks(plan(name)).items():
        text = json.dumps(body["Resources"])
        named = re.findall(r'"Ref": "(\w+)"', text) + re.findall(
            r'"Fn::GetAtt": \["(\w+)"', text
        )
        assert set(named) <= body["Resources"].keys(), path


@pytest.mark.parametrize("name", ["everything", *SPECS])
def test_stacks_are_small_enough_to_be_given_as_files(name: str) -> None:
    """51,200 bytes a template, 128 characters a name, ten policies a role, a named role in the cluster's stack alone
    (CloudFormation user guide, quotas; CloudFormation API, CreateStack; IAM user guide, quotas)."""
    for path, body in stacks(plan(name)).items():
        assert len(dump(body)) < 51_200, path
        roles = [
            each["Properties"]
            for each in body["Resources"].values()
            if each["Type"] == "AWS::IAM::Role"
        ]
        assert all(len(each["ManagedPolicyArns"]) <= 10 for each in roles)
        assert path == "bootstrap/stack.yaml" or not any(
            "RoleName" in each for each in roles
        )


def test_a_principal_of_two_namespaces_has_one_entry() -> None:
    """EKS takes one entry for each principal (EKS API, CreateAccessEntry)."""
    both = [
        {"name": name, "group": name, "principals": [ARN.format("ml")]}
        for name in ("a", "b")
    ]
    made = plan_of(
        spec(
            admins=[ARN.format("ml")],
            namespaces=both,
            job={"namespace": "a"},
            queues=[
                {
                    "name": "q",
                    "namespaces": ["a", "b"],
                    "quota": [{"pool": "gpu", "nodes": 4}],
                },
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
    found = stacks(plan("everything"))["bootstrap/stacks/bucket-fast.yaml"][
        "Resources"
    ]["Policy"]["Properties"]
    (statement,) = found["PolicyDocument"]["Statement"]
    assert statement["Action"] == ["s3express:CreateSession"]
    assert (
        statement["Resource"]
        == "arn:aws:s3express:us-west-2:111122223333:bucket/fast--usw2-az1--x-s3"
    )
