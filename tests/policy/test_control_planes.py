"""A control plane of EKS is judged whoever makes it: one fault in the words of eksctl, CloudFormation and Terraform."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from native import native
from running import Command
from trainyard.language.source.libyaml import DUMPER, yaml

pytestmark = pytest.mark.needs("lint")

ROLE = "arn:aws:iam::111122223333:role/eks"
SUBNETS = ["subnet-0a1b2c3d4e5f60718", "subnet-0a1b2c3d4e5f60719"]


def of_eksctl(version: Any, public: Any, blocks: Any) -> str:
    endpoints = {"publicAccess": public, "privateAccess": True}
    body = {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {"name": "lab", "region": "us-west-2", "version": version},
        "vpc": {"clusterEndpoints": endpoints, "publicAccessCIDRs": blocks},
        "autoModeConfig": {"enabled": False},
    }
    return yaml.dump(without_nothing(body), Dumper=DUMPER)


def of_cloudformation(version: Any, public: Any, blocks: Any) -> str:
    network = {
        "SubnetIds": SUBNETS,
        "EndpointPublicAccess": public,
        "EndpointPrivateAccess": True,
        "PublicAccessCidrs": blocks,
    }
    properties = {"Version": version, "RoleArn": ROLE, "ResourcesVpcConfig": network}
    body = {"Resources": {"Lab": {"Type": "AWS::EKS::Cluster", "Properties": properties}}}
    return yaml.dump(without_nothing(body), Dumper=DUMPER)


def module(version: Any, public: Any, blocks: Any) -> Any:
    network = {
        "subnet_ids": SUBNETS,
        "endpoint_public_access": public,
        "endpoint_private_access": True,
        "public_access_cidrs": blocks,
    }
    cluster = {"name": "lab", "role_arn": ROLE, "version": version, "vpc_config": network}
    return without_nothing({"resource": {"aws_eks_cluster": {"lab": cluster}}})


def of_terraform(version: Any, public: Any, blocks: Any) -> str:
    return json.dumps(module(version, public, blocks), indent=1)


def of_native_terraform(version: Any, public: Any, blocks: Any) -> str:
    return native(module(version, public, blocks))


def without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nothing(item) for key, item in value.items() if item is not None}
    return value


FORMS: Mapping[str, Callable[[Any, Any, Any], str]] = {
    "cluster.yaml": of_eksctl,
    "stack.yaml": of_cloudformation,
    "main.tf.json": of_terraform,
    "main.tf": of_native_terraform,
}
UNKNOWN: Mapping[str, Any] = {
    "stack.yaml": {"Ref": "X"},
    "main.tf.json": "${var.x}",
    "main.tf": "${var.x}",
}
OWN = ["203.0.113.0/24"]
FAULTS: Mapping[str, tuple[tuple[Any, Any, Any], list[str]]] = {
    "none": (("1.36", True, OWN), []),
    "a private endpoint": (("1.36", False, None), []),
    "every address": (("1.36", True, None), ["ACC001"]),
    "half of all addresses": (("1.36", True, ["128.0.0.0/1"]), ["ACC001"]),
    "an old version": (("1.29", True, OWN), ["HLT024"]),
    "a version long gone": (("1.21", False, None), ["HLT024"]),
}


def found(trainyard: Command, folder: Path, name: str, text: str) -> list[dict[str, Any]]:
    (folder / name).write_text(text)
    done = trainyard("lint", "--format=json", name, cwd=folder)
    return list(json.loads(done.out)["diagnostics"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_in_each_form(
    fault: str, form: str, tmp_path: Path, trainyard: Command
) -> None:
    said, codes = FAULTS[fault]
    assert [each["code"] for each in found(trainyard, tmp_path, form, FORMS[form](*said))] == codes


@pytest.mark.parametrize("form", UNKNOWN)
def test_what_is_filled_in_later_is_no_fault(form: str, tmp_path: Path, trainyard: Command) -> None:
    unknown = UNKNOWN[form]
    for said in [(unknown, unknown, unknown), ("1.36", True, unknown), ("1.36", unknown, None)]:
        text = FORMS[form](*said)
        if form == "stack.yaml":
            text += "Parameters: {X: {Type: String}}\n"
        assert found(trainyard, tmp_path, form, text) == []


@pytest.mark.parametrize("form", UNKNOWN)
def test_an_endpoint_of_which_nothing_is_said_is_public(
    form: str, tmp_path: Path, trainyard: Command
) -> None:
    (finding,) = found(trainyard, tmp_path, form, FORMS[form]("1.36", None, None))
    assert finding["code"] == "ACC001"


def test_a_help_is_in_the_words_of_the_tool(tmp_path: Path, trainyard: Command) -> None:
    helps = {
        form: found(trainyard, tmp_path, form, make("1.32", False, None))[0]["help"]
        for form, make in FORMS.items()
    }
    step = " as the next step: EKS takes one minor version at a time"
    assert helps == {
        "cluster.yaml": f'write `version: "1.33"`{step}',
        "stack.yaml": f'write `Version: "1.33"`{step}',
        "main.tf.json": f'write `version = "1.33"`{step}',
        "main.tf": f'write `version = "1.33"`{step}',
    }
