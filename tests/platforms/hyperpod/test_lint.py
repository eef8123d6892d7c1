"""Requests of others: what SageMaker refuses, each at its line; and jobs that are judged against their groups."""

from __future__ import annotations

import copy
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import ROOT
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.extensions.lint.linter import Linted, lint
from trainyard.output import Artifact
from trainyard.run.outcome import Options
from trainyard.verify.formats import lifted

CASES = ROOT.parent / "shared" / "cases"
GROUP: dict[str, Any] = {
    "InstanceGroupName": "gpu",
    "InstanceType": "ml.g5.8xlarge",
    "InstanceCount": 2,
    "ExecutionRole": "arn:aws:iam::111122223333:role/hyperpod",
    "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-lifecycle/base", "OnCreate": "on_create.sh"},
}
LARGER = {**GROUP, "InstanceGroupName": "large", "InstanceType": "ml.g5.12xlarge"}
GROUP_LABEL = "sagemaker.amazonaws.com/instance-group-name"
AUTO_RESUME = "sagemaker.amazonaws.com/enable-job-auto-resume"
RESUMED = f'{AUTO_RESUME}: "true", sagemaker.amazonaws.com/job-max-retry-count: "2"'
REQUEST: dict[str, Any] = {
    "ClusterName": "research",
    "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/research"}},
    "NodeRecovery": "Automatic",
    "VpcConfig": {
        "SecurityGroupIds": ["sg-0a1b2c3d4e5f60718"],
        "Subnets": ["subnet-0a1b2c3d4e5f60718"],
    },
    "InstanceGroups": [GROUP],
}
ELASTIC = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: elastic, namespace: kubeflow, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  elasticPolicy:
    minReplicas: 1
    maxReplicas: 4
    rdzvBackend: c10d
    maxRestarts: 3
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: OnFailure
      template:
        spec:
          nodeSelector: {sagemaker.amazonaws.com/node-health-status: Schedulable}
          containers:
            - name: pytorch
              image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/lora:1.0
              command: [torchrun, train.py]
              resources:
                requests: {cpu: 6, memory: 24Gi, nvidia.com/gpu: 1}
                limits: {cpu: 6, memory: 24Gi, nvidia.com/gpu: 1}
"""


def linted(folder: Path) -> Linted:
    return lint([folder], Options(today=date(2026, 11, 24)))


def found(folder: Path) -> list[tuple[str, int, str]]:
    """The code, the line and the message of each finding."""
    return [
        (fact.code, fact.span.line if fact.span else 0, fact.message)
        for fact in linted(folder).diagnostics
    ]


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def write(folder: Path, *changes: tuple[tuple[Any, ...], Any]) -> str:
    """The request with other values, by their paths; returns its text."""
    body = copy.deepcopy(REQUEST)
    for path, value in changes:
        node: Any = body
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
    text = json.dumps(body, indent=1)
    (folder / "create-cluster.json").write_text(text)
    return text


def test_a_request_on_one_line_is_read(tmp_path: Path) -> None:
    """As programs write it."""
    text = write(tmp_path, ((*_FIRST, "InstanceType"), "g5.8xlarge"))
    (tmp_path / "create-cluster.json").write_text(json.dumps(json.loads(text)))
    assert [code for code, line, _ in found(tmp_path) if line == 1] == ["SCH011"]


def test_a_request_without_fault_is_judged(tmp_path: Path) -> None:
    write(tmp_path)
    done = linted(tmp_path)
    assert done.diagnostics == []
    assert "create-cluster.json" in str(list(tmp_path.iterdir()))


_FIRST = ("InstanceGroups", 0)


@pytest.mark.parametrize(
    ("path", "value", "part", "message"),
    [
        (
            (*_FIRST, "InstanceType"),
            "g5.8xlarge",
            '"InstanceType"',
            "HyperPod has no instance type `g5.8xlarge`",
        ),
        (
            (*_FIRST, "InstanceCount"),
            "2",
            '"InstanceCount"',
            "a string where an integer is expected",
        ),
        ((*_FIRST, "InstanceCounts"), 2, '"InstanceCounts"', "unknown field `InstanceCounts`"),
        (
            (*_FIRST, "InstanceRequirements"),
            {"InstanceTypes": ["ml.g5.8xlarge"]},
            '"InstanceRequirements"',
            "the group has both `InstanceType` and `InstanceRequirements`",
        ),
        (
            (*_FIRST, "InstanceStorageConfigs"),
            [{"EbsVolumeConfig": {"VolumeKmsKeyId": "k", "RootVolume": True, "VolumeSizeInGB": 9}}],
            '"VolumeSizeInGB"',
            "HyperPod says the size of a root volume itself",
        ),
        (
            (*_FIRST, "LifeCycleConfig", "SourceS3Uri"),
            "s3://team-lifecycle/base",
            '"SourceS3Uri"',
            "nodes may not read `s3://team-lifecycle/base`: AmazonSageMakerClusterInstanceRolePolicy "
            "lets them read buckets whose names begin with `sagemaker-`",
        ),
        (
            ("InstanceGroups",),
            [GROUP, GROUP],
            '"InstanceGroupName"',
            "two instance groups are called `gpu`",
        ),
        (("Orchestrator", "Slurm"), {}, '"Orchestrator"', "the cluster has 2 orchestrators"),
        (
            ("AutoScaling",),
            {"Mode": "Enable", "AutoScalerType": "Karpenter"},
            '"AutoScaling"',
            "nodes are scaled, and no `ClusterRole` adds and removes them",
        ),
        (
            (*_FIRST, "InstanceStorageConfigs"),
            [{"EbsVolumeConfig": {"RootVolume": True}}],
            '"EbsVolumeConfig"',
            "a root volume is configured without the key that encrypts it",
        ),
        (
            (*_FIRST, "InstanceStorageConfigs"),
            [{"EbsVolumeConfig": {"VolumeKmsKeyId": "k"}}],
            '"EbsVolumeConfig"',
            "the second volume has no size",
        ),
        (
            (*_FIRST, "InstanceType"),
            "ml.x9.large",
            '"InstanceType"',
            "HyperPod has no instance type `ml.x9.large`",
        ),
        (("NodeRecovery",), "Auto", '"NodeRecovery"', "`Auto` is not one of `Automatic`, `None`"),
    ],
)
def test_what_sagemaker_refuses_is_found_at_its_line(
    path: tuple[Any, ...], value: Any, part: str, message: str, tmp_path: Path
) -> None:
    text = write(tmp_path, (path, value))
    last = text.rindex(part)
    line = text[:last].count("\n") + 1
    lines = {at for _, at, said in found(tmp_path) if message in said}
    assert line in lines, found(tmp_path)


_SCALED = {"Mode": "Enable", "AutoScalerType": "Karpenter"}
_ROLE = "arn:aws:iam::111122223333:role/scaling"


@pytest.mark.parametrize(
    ("changes", "messages"),
    [
        # a role that adds and removes nodes
        (
            [
                (("AutoScaling",), _SCALED),
                (("ClusterRole",), _ROLE),
                (("NodeProvisioningMode",), "Continuous"),
            ],
            [],
        ),
        (
            [(("AutoScaling",), _SCALED), (("ClusterRole",), _ROLE)],
            ["nodes are scaled, and `NodeProvisioningMode` is not `Continuous`"],
        ),
        # values of other kinds are found once
        (
            [(("InstanceGroups",), [{**GROUP, "InstanceGroupName": 5}, GROUP])],
            ["an integer where a string is expected"],
        ),
        (
            [((*_FIRST, "InstanceStorageConfigs"), [{"EbsVolumeConfig": 500}])],
            ["an integer where a mapping is expected"],
        ),
        (
            [((*_FIRST, "InstanceStorageConfigs"), [{"FsxLustreConfig": {"MountPath": "/fsx"}}])],
            ["`DnsName` is missing", "`MountName` is missing"],
        ),
    ],
)
def test_what_else_is_said_of_a_request(
    changes: list[tuple[tuple[Any, ...], Any]], messages: list[str], tmp_path: Path
) -> None:
    write(tmp_path, *changes)
    assert [message for _, _, message in found(tmp_path)] == messages


def test_a_group_beside_a_null_is_found_at_its_own_line(tmp_path: Path) -> None:
    text = write(tmp_path, (("InstanceGroups",), [None, {**GROUP, "InstanceType": "g5.8xlarge"}]))
    lines = {message: line for _, line, message in found(tmp_path)}
    assert lines["HyperPod has no instance type `g5.8xlarge`"] == line_of(text, '"g5.8xlarge"')
    assert lines["null where a mapping is expected"] == line_of(text, "null")


def test_a_group_without_a_name_is_no_pool(tmp_path: Path) -> None:
    groups = [{**GROUP, "InstanceGroupName": 5}, LARGER]
    request = Artifact(path="a.json", format="hyperpod", body={**REQUEST, "InstanceGroups": groups})
    plan = lifted([request], closed=False)
    assert [group.name for group in plan.of(InstanceGroup)] == ["large"]


def test_a_group_that_stands_alone_is_judged(tmp_path: Path) -> None:
    """As `aws sagemaker update-cluster --instance-groups` takes it, a file a group."""
    group = {key: value for key, value in GROUP.items() if key != "InstanceType"}
    (tmp_path / "group.json").write_text(json.dumps(group, indent=1))
    assert [message for _, _, message in found(tmp_path)] == ["the group says no instance type"]


def test_requests_of_task_governance_are_judged(tmp_path: Path) -> None:
    quota = {
        "Name": "research",
        "ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl",
        "ComputeQuotaConfig": {
            "ComputeQuotaResources": [{"InstanceType": "ml.g5.8xlarge", "Count": 2}],
            "ResourceSharingConfig": {"Strategy": "Borrow"},
        },
        "ComputeQuotaTarget": {"TeamName": "research"},
    }
    (tmp_path / "quota.json").write_text(json.dumps(quota, indent=1))
    ((code, line, message),) = found(tmp_path)
    assert code.startswith("SCH")
    assert line == line_of((tmp_path / "quota.json").read_text(), '"Strategy"')
    assert "Borrow" in message


def test_an_elastic_job_that_exceeds_its_groups_is_found_at_its_line(tmp_path: Path) -> None:
    """Seed 004: up to four workers on two nodes of one GPU, admitted all or nothing."""
    write(tmp_path)
    (tmp_path / "job.yaml").write_text(ELASTIC)
    codes = {(code, line) for code, line, _ in found(tmp_path)}
    expected = {
        ("LIM031", line_of(ELASTIC, "maxReplicas")),
        ("LIM032", line_of(ELASTIC, "minReplicas")),
        ("RUN154", line_of(ELASTIC, "metadata")),
        ("RUN155", line_of(ELASTIC, "restartPolicy")),
    }
    assert expected <= codes, codes


@pytest.mark.skipif(not CASES.exists(), reason="the cases are not there")
def test_the_faults_of_a_job_of_others_are_found_at_their_lines(tmp_path: Path) -> None:
    """Seed 004, next to a cluster of ml.g5.2xlarge: all that its header lists but the choice of a group."""
    write(tmp_path, ((*_FIRST, "InstanceType"), "ml.g5.2xlarge"))
    text = (CASES / "seed004-pytorchjob-finetuning.yaml").read_text()
    (tmp_path / "job.yaml").write_text(text)
    codes = {(code, line) for code, line, _ in found(tmp_path)}
    command = line_of(text, "- |")
    requests = line_of(text, 'cpu: "8"\n                  memory')
    expected = {
        ("LIM002", requests),
        ("LIM004", requests - 1),
        ("RUN154", line_of(text, "name: deepseek-finetuning")),
        ("RUN156", command),
        (
            "RUN013",
            line_of(
                text, "image: huggingface/transformers-pytorch-gpu:latest\n              image"
            ),
        ),
        ("RUN020", command),
        ("RUN039", command),
    }
    assert expected <= codes, codes


def test_a_job_that_selects_no_group_is_found_where_there_are_several(tmp_path: Path) -> None:
    write(tmp_path, (("InstanceGroups",), [GROUP, LARGER]))
    pods = "        spec:\n"
    text = ELASTIC.replace("sagemaker.amazonaws.com/node-health-status: Schedulable", "")
    (tmp_path / "job.yaml").write_text(text)
    assert ("PLC081", line_of(text, pods) + 1) in {
        (code, line) for code, line, _ in found(tmp_path)
    }

    selected = text.replace("nodeSelector: {", f"nodeSelector: {{{GROUP_LABEL}: gpu")
    (tmp_path / "job.yaml").write_text(selected)
    assert "PLC081" not in {code for code, _, _ in found(tmp_path)}


@pytest.mark.parametrize(
    "choice",
    [
        ("restartPolicy: OnFailure", "restartPolicy: Never"),
        ("namespace: kubeflow", f'namespace: kubeflow, annotations: {{{AUTO_RESUME}: "false"}}'),
        ("namespace: kubeflow", f"namespace: kubeflow, annotations: {{{RESUMED}}}"),
    ],
)
def test_a_job_that_chooses_is_let_be(choice: tuple[str, str], tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "job.yaml").write_text(ELASTIC.replace(*choice))
    assert "RUN154" not in {code for code, _, _ in found(tmp_path)}


def test_nothing_resumes_where_no_node_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, (("NodeRecovery",), "None"))
    (tmp_path / "job.yaml").write_text(ELASTIC)
    assert "RUN154" not in {code for code, _, _ in found(tmp_path)}


def test_a_job_elsewhere_is_not_judged_against_a_request(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write(tmp_path / "one")
    (tmp_path / "two" / "job.yaml").write_text(ELASTIC)
    assert "LIM031" not in {code for code, _, _ in found(tmp_path)}


HYPERPOD_JOB = """\
apiVersion: sagemaker.amazonaws.com/v1
kind: HyperPodPyTorchJob
metadata: {name: lora, namespace: hyperpod-ns-research}
spec:
  nprocPerNode: "1"
  runPolicy:
    cleanPodPolicy: All
    jobMaxRetryCount: 3
    restartPolicy: {evalPeriodSeconds: 21600, maxFullJobRestarts: 1}
    logMonitoringConfiguration: [{name: start, logPattern: "Loss:", expectedStartCutOffInSeconds: 240}]
  elasticPolicy:
    minReplicas: 1
    maxReplicas: 2
  replicaSpecs:
    - name: workers
      replicas: 2
      spares: 0
      template:
        spec:
          nodeSelector: {sagemaker.amazonaws.com/node-health-status: Schedulable}
          containers:
            - name: pytorch
              image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/lora:1.0
              command: [hyperpodrun, train.py]
              volumeMounts: [{name: shm, mountPath: /dev/shm}]
              resources:
                requests: {cpu: 6, memory: 24Gi, nvidia.com/gpu: 1, vpc.amazonaws.com/efa: 1, hugepages-2Mi: 5128Mi}
                limits: {cpu: 6, memory: 24Gi, nvidia.com/gpu: 1, vpc.amazonaws.com/efa: 1, hugepages-2Mi: 5128Mi}
          volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}}]
"""


def test_a_job_of_the_training_operator_without_fault(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "job.yaml").write_text(HYPERPOD_JOB)
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "code", "part"),
    [
        ('nprocPerNode: "1"', "nprocPerNode: 1", "SCH002", "nprocPerNode"),
        ("jobMaxRetryCount", "backoffLimit", "SCH001", "backoffLimit"),
        ("evalPeriodSeconds: 21600, ", "", "SCH003", "restartPolicy"),
        ("    minReplicas: 1\n", "    rdzvBackend: c10d\n", "SCH001", "rdzvBackend"),
        ("replicas: 2\n", "replicas: two\n", "SCH002", "replicas: two"),
        ("    - name: workers\n      replicas", "    - replicas", "SCH003", "- replicas"),
        ("mountPath: /dev/shm", "path: /dev/shm", "SCH001", "path: /dev/shm"),
        ("maxReplicas: 2", "maxReplicas: 4", "LIM031", "maxReplicas"),
        ("{cpu: 6, memory", "{cpu: 32, memory", "LIM002", "limits"),
        ("lora:1.0", "lora:latest", "RUN013", "image"),
    ],
)
def test_the_faults_of_a_job_of_the_training_operator(
    old: str, new: str, code: str, part: str, tmp_path: Path
) -> None:
    write(tmp_path)
    text = HYPERPOD_JOB.replace(old, new)
    assert text != HYPERPOD_JOB
    (tmp_path / "job.yaml").write_text(text)
    codes = {(code, line) for code, line, _ in found(tmp_path)}
    assert (code, line_of(text, part)) in codes, codes
