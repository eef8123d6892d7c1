"""The request, the chart and the jobs: what is written, and that it says what the spec said."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
import pytest
import yaml
from botocore.validate import ParamValidator
from builders import ROOT
from failures.walking import read
from jsonschema import Draft7Validator
from trainyard.catalog import hyperpod, load_catalog
from trainyard.eks.flux.plan import GitSource, HelmRelease
from trainyard.eks.nodes.plan import NodePool
from trainyard.extensions.forecast.blocks import Paragraph, Table
from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.extensions.hyperpod.groups.share import reserved_cpu, reserved_memory_mib
from trainyard.extensions.hyperpod.report import repair
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.verify.formats import lifted

from tests.platforms.hyperpod.clusters import PLAN, errors, files, request_of, spec
from tests.platforms.passes import compiled

SPEC = ROOT / "specs" / "hyperpod-lora.yaml"
SHARED = ROOT.parent / "shared" / "aws" / "hyperpod"
FORMS: list[dict[str, Any]] = [
    {},
    {"own": {"deepHealthChecks": ["InstanceStress", "InstanceConnectivity"], "threadsPerCore": 1}},
    {"own": {"trainingPlans": {"a100": PLAN}, "nodeRecovery": "None"}, "job": {"retries": 0}},
    {"pool": {"capacity": {"spot": {}}, "rootVolume": {"size": "500Gi"}}, "tags": {"team": "a"}},
    {
        "pool": {
            "labels": {"example.com/team": "research"},
            "taints": [{"key": "example.com/team", "value": "research", "effect": "NoSchedule"}],
        }
    },
    {"eks": {"version": "1.33", "admins": ["arn:aws:iam::111122223333:role/platform"]}},
]


def example() -> Compilation:
    return check([SPEC], Options(hold=False)).compilations[0]


def model(name: str) -> Any:
    return botocore.session.get_session().get_service_model("sagemaker").shape_for(name)


@pytest.mark.parametrize("parts", FORMS)
def test_what_is_written_says_what_was_resolved(parts: dict[str, Any], tmp_path: Path) -> None:
    done = compiled(spec(**parts), tmp_path)
    assert errors(done) == []
    assert done.plan is not None
    again = lifted(done.artifacts, closed=True)
    for kind in (HyperPodCluster, InstanceGroup):
        ours = {node.name: node for node in done.plan.of(kind)}
        theirs = {node.name: node for node in again.of(kind)}
        assert ours
        assert {name: _as_carried(node) for name, node in ours.items()} == theirs


def _as_carried(node: Any) -> Any:
    """No request says the zone of a subnet."""
    if not isinstance(node, InstanceGroup):
        return node
    known = tuple(each for each in node.requirements if not each.key.endswith("/zone"))
    return replace(node, requirements=known)


@pytest.mark.slow
@pytest.mark.parametrize("parts", FORMS)
def test_botocore_and_the_model_of_the_api_take_the_request(
    parts: dict[str, Any], tmp_path: Path
) -> None:
    request = request_of(compiled(spec(**parts), tmp_path))
    report = ParamValidator().validate(request, model("CreateClusterRequest"))
    assert not report.has_errors(), report.generate_report()
    changed = {key: request[key] for key in request.keys() - {"VpcConfig", "Tags"}}
    report = ParamValidator().validate(changed, model("UpdateClusterRequest"))
    assert not report.has_errors(), report.generate_report()
    file = SHARED / "CreateCluster.schema.json"
    if not file.exists():
        pytest.skip("the schema is not there")
    schema = json.loads(re.sub(r"\\\\p\{[LNZ]\}", r"\\\\w", file.read_text()))
    assert [fault.message for fault in Draft7Validator(schema).iter_errors(request)] == []


@pytest.mark.slow
def test_the_types_are_those_of_the_api() -> None:
    assert {hyperpod.ml_name(name) for name in hyperpod.types()} == set(
        model("ClusterInstanceType").enum
    )
    assert set(map(hyperpod.ec2_name, model("ClusterInstanceType").enum)) == hyperpod.types()


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_bootstrap_puts_the_request_together(tmp_path: Path) -> None:
    """As the test does, with the security group that AWS answers with."""
    done = check([SPEC], Options(hold=False)).compilations[0]
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "aws").write_text("#!/bin/sh\necho sg-0a1b2c3d4e5f60718\n")
    (programs / "aws").chmod(0o755)
    script = ROOT / "generated" / "hyperpod-lora" / "bootstrap" / "hyperpod" / "up.sh"
    path = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", str(script), "--config"], env=path, capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout) == request_of(done)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    done = example()
    paths = []
    for artifact in done.artifacts:
        if artifact.format == "shell" and "/hyperpod/" in artifact.path:
            file = tmp_path / Path(artifact.path).name
            file.write_text(artifact.content)
            paths.append(str(file))
    assert len(paths) == 3
    # As in the scripts of EKS: what the shared steps set, and not all scripts use.
    ran = subprocess.run(
        ["shellcheck", "-s", "bash", "--exclude=SC2034", *paths], capture_output=True, text=True
    )
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("own", "words"),
    [({}, "reboots or replaces sick ones"), ({"nodeRecovery": "None"}, "leaves them")],
)
def test_the_report_says_who_replaces_sick_nodes(own: dict[str, Any], words: str) -> None:
    _, planned = read(spec(own=own, job={"retries": 0}))
    _, said, groups = repair(planned)
    assert isinstance(said, Paragraph)
    assert isinstance(groups, Table)
    assert words in said.lines[0]
    assert list(groups.rows) == [("a100", "4")]


def test_a_job_is_resumed_on_healthy_nodes(tmp_path: Path) -> None:
    texts = files(compiled(spec(), tmp_path))
    (text,) = [text for path, text in texts.items() if path.startswith("jobs/")]
    job = yaml.safe_load(text)
    assert job["kind"] == "PyTorchJob"
    assert job["metadata"]["namespace"] == "hyperpod-ns-research"
    annotations = job["metadata"]["annotations"]
    assert annotations["sagemaker.amazonaws.com/enable-job-auto-resume"] == "true"
    assert annotations["sagemaker.amazonaws.com/job-max-retry-count"] == "2"
    assert job["spec"]["runPolicy"]["backoffLimit"] == 8
    for role in job["spec"]["pytorchReplicaSpecs"].values():
        assert role["restartPolicy"] == "OnFailure"
        pod = role["template"]["spec"]
        assert pod["nodeSelector"] == {
            "trainyard.dev/pool": "a100",
            "sagemaker.amazonaws.com/node-health-status": "Schedulable",
        }
        env = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
        assert env["PET_MAX_RESTARTS"] == "0"


def test_without_retries_nothing_is_resumed(tmp_path: Path) -> None:
    queues = [{"name": "q", "namespaces": ["team-a"], "quota": [{"pool": "a100", "nodes": 4}]}]
    done = compiled(spec(job={"retries": 0}, queues=queues), tmp_path)
    assert errors(done) == []
    (text,) = [text for path, text in files(done).items() if path.startswith("jobs/")]
    assert "auto-resume" not in text


def test_hyperpod_s_chart_comes_at_a_commit_with_what_eks_lacks(tmp_path: Path) -> None:
    done = compiled(spec(), tmp_path)
    assert done.plan is not None
    releases = {node.name: node for node in done.plan.of(HelmRelease)}
    chart = releases["dependencies"]
    assert chart.git
    assert chart.target == "kube-system"
    assert chart.values["nvidia-device-plugin"] == {"devicePlugin": {"enabled": False}}
    assert {"nvidia-device-plugin", "aws-efa-k8s-device-plugin", "kueue"} <= releases.keys()
    assert releases.keys().isdisjoint({"karpenter", "karpenter-crd", "eks-node-monitoring-agent"})
    assert not done.plan.of(NodePool)
    (source,) = [node for node in done.plan.of(GitSource) if node.name == chart.source]
    assert re.fullmatch(r"[0-9a-f]{40}", source.commit)


def test_the_plugin_of_efa_comes_to_nodes_by_hyperpod_s_names(tmp_path: Path) -> None:
    done = compiled(spec(), tmp_path)
    assert done.plan is not None
    (plugin,) = [
        node for node in done.plan.of(HelmRelease) if node.name == "aws-efa-k8s-device-plugin"
    ]
    named = plugin.values["supportedInstanceLabels"]["values"]
    assert "ml.p4d.24xlarge" in named
    assert "ml.g5.xlarge" not in named
    assert all(name.startswith("ml.") for name in named)


def test_kubernetes_is_the_newest_that_hyperpod_takes(tmp_path: Path) -> None:
    texts = files(compiled(spec(), tmp_path))
    assert 'version: "1.34"' in texts["bootstrap/eksctl.yaml"]


@pytest.mark.parametrize(
    ("name", "cpu", "memory"),
    [("g5.2xlarge", 7.01, 24.98), ("g5.8xlarge", 29.57, 104.66), ("p4d.24xlarge", 89.73, 1056.98)],
)
def test_what_is_left_of_a_node_is_what_hyperpod_s_command_line_counts_with(
    name: str, cpu: float, memory: float
) -> None:
    instance = load_catalog().instance_types[name]
    assert (instance.vcpus * 1000 - reserved_cpu(instance.vcpus)) / 1000 == pytest.approx(cpu)
    left = instance.memory_mib - reserved_memory_mib(instance.memory_mib)
    assert left / 1024 == pytest.approx(memory, abs=0.01)


def test_the_request_is_one_file_in_the_order_of_names(tmp_path: Path) -> None:
    """So that git merges two branches that each add a pool."""
    data = spec()
    more = {"instanceTypes": ["g6e.48xlarge"], "zones": ["us-west-2a"], "nodes": 2}
    data["spec"]["nodePools"] += [{"name": name, **more} for name in ("l40s", "aaa")]
    groups = request_of(compiled(data, tmp_path))["InstanceGroups"]
    assert [group["InstanceGroupName"] for group in groups] == ["a100", "aaa", "l40s"]


# AWS' own template of the role
# (aws-samples/awsome-distributed-training 7217859, sagemaker-iam-role-stack.yaml).
_RIGHTS = (
    *("ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:CreateTags"),
    *("ec2:CreateNetworkInterfacePermission", "ec2:DeleteNetworkInterface"),
    *("ec2:DeleteNetworkInterfacePermission", "ec2:DescribeNetworkInterfaces", "ec2:DescribeVpcs"),
    *("ec2:DescribeDhcpOptions", "ec2:DescribeSubnets", "ec2:DescribeSecurityGroups"),
    *("ec2:DetachNetworkInterface", "ec2:ModifyNetworkInterfaceAttribute"),
    *("ec2:UnassignPrivateIpAddresses", "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage"),
    *("ecr:GetAuthorizationToken", "ecr:GetDownloadUrlForLayer"),
    "eks-auth:AssumeRoleForPodIdentity",
)


@pytest.mark.slow
def test_the_role_of_nodes_has_the_rights_that_the_guide_lists(tmp_path: Path) -> None:
    """Its managed policies are those of AWS, as moto has them."""
    from moto.iam.aws_managed_policies import aws_managed_policies_data

    known = json.loads(aws_managed_policies_data)
    stack = yaml.safe_load(files(compiled(spec(), tmp_path))["bootstrap/stacks/hyperpod.yaml"])
    role = stack["Resources"]["Role"]["Properties"]
    names = [arn.rpartition("/")[2] for arn in role["ManagedPolicyArns"]]
    documents = [known[name]["Document"] for name in names]
    documents += [policy["PolicyDocument"] for policy in role["Policies"]]
    allowed: set[str] = set()
    for statement in (each for document in documents for each in document["Statement"]):
        actions = statement["Action"]
        allowed |= {actions} if isinstance(actions, str) else set(actions)
    assert [right for right in _RIGHTS if right not in allowed] == []


TERRAFORM = {"tool": "terraform", "state": {"bucket": "terraform-state-111122223333"}}


def test_terraform_makes_what_the_nodes_need(tmp_path: Path) -> None:
    """A role, and a bucket of scripts that expire by no rule; the scripts call Terraform where a stack was deployed."""
    done = compiled(spec(bootstrap=TERRAFORM), tmp_path)
    assert done.diagnostics == []
    texts = files(done)
    assert not [path for path in texts if path.startswith("bootstrap/stacks/")]
    made = json.loads(texts["bootstrap/terraform/hyperpod/main.tf.json"])["resource"]
    assert made["aws_iam_role"]["role"]["name"] == "trainyard-lab-hyperpod"
    (bucket,) = made["aws_s3_bucket"].values()
    assert bucket["bucket"] == "sagemaker-lab-111122223333-us-west-2"
    assert "aws_s3_bucket_lifecycle_configuration" not in made
    scripts = {
        artifact.path: artifact for artifact in done.artifacts if "/hyperpod/" in artifact.path
    }
    for name, command in (("up", "apply hyperpod"), ("down", "delete hyperpod")):
        text = scripts[f"bootstrap/hyperpod/{name}.sh"].content
        assert f'run_script "$here/../terraform.sh" {command}' in text
        assert "cloudformation deploy" not in text
        assert "delete_stack " not in text.partition("step_cluster")[2]


def test_cloudformation_makes_it_otherwise(tmp_path: Path) -> None:
    done = compiled(spec(), tmp_path)
    assert "bootstrap/stacks/hyperpod.yaml" in files(done)
    for artifact in done.artifacts:
        if artifact.path.startswith("bootstrap/hyperpod/") and artifact.format == "shell":
            assert "terraform" not in artifact.content


def test_jobs_may_ask_for_huge_pages_that_no_queue_counts(tmp_path: Path) -> None:
    done = compiled(spec(job={"resources": {"hugePages": "5Gi"}}), tmp_path)
    assert done.diagnostics == []
    kueue = yaml.safe_load(files(done)["controllers/helmrelease-kueue.yaml"])
    text = kueue["spec"]["values"]["managerConfig"]["controllerManagerConfigYaml"]
    assert yaml.safe_load(text)["resources"]["excludeResourcePrefixes"] == [
        "ephemeral-storage",
        "hugepages-2Mi",
    ]
