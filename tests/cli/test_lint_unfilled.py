"""Counts, ids and names that somebody was to fill in, and what fills them in: `SCH055`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import lint
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.run.examples.pages import DAY
from trainyard.run.outcome import Options

NODES = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: fsdp}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: %s
      restartPolicy: OnFailure
      template:
        spec:
          containers: [{name: pytorch, image: "a.example/b:1.0", resources: {limits: {cpu: 1, memory: 1Gi}}}]
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector:
    node.kubernetes.io/instance-type: %s
  containers:
    - name: a
      image: %s
      resources:
        limits:
          cpu: 1
          memory: 1Gi
          nvidia.com/gpu: %s
      env:
        - name: MODEL
          value: %s
"""
VOLUME = """apiVersion: v1
kind: PersistentVolume
metadata: {name: a}
spec:
  capacity: {storage: 1200Gi}
  accessModes: [ReadWriteMany]
  csi:
    driver: %s
    volumeHandle: %s
    volumeAttributes: {bucketName: %s}
"""
CLASS = """apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: a}
provisioner: fsx.csi.aws.com
parameters:
  subnetId: %s
"""
NODE_CLASS = """apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiSelectorTerms: [{alias: al2023@v20251120}]
  role: r
  subnetSelectorTerms: [{id: subnet-0a1b2c3d4e5f60718}]
  securityGroupSelectorTerms:
    - tags: {karpenter.sh/discovery: a}
  capacityReservationSelectorTerms:
    - id: %s
"""
CLUSTER = """apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: a, region: us-east-1, version: "1.35"}
vpc:
  id: %s
managedNodeGroups:
  - name: a
    instanceType: p5.48xlarge
    capacityReservation:
      capacityReservationTarget:
        capacityReservationID: cr-0a1b2c3d4e5f60718
"""
ACCOUNT = """apiVersion: v1
kind: ServiceAccount
metadata:
  name: a
  annotations:
    eks.amazonaws.com/role-arn: arn:aws:iam::%s:role/a
"""
SLURM = """Region: us-east-1
Image: {Os: alinux2023}
HeadNode:
  InstanceType: m5.xlarge
  Networking:
    SubnetId: %s
  Ssh: {KeyName: a}
Scheduling:
  Scheduler: slurm
  SlurmQueues:
    - Name: a
      ComputeResources: [{Name: a, InstanceType: p5.48xlarge, MinCount: 2, MaxCount: 2}]
      Networking: {SubnetIds: [subnet-0a1b2c3d4e5f60718]}
"""
REQUEST = """{
  "ClusterName": "a",
  "InstanceGroups": [
    {"InstanceGroupName": "a", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2,
     "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-a", "OnCreate": "a.sh"},
     "ExecutionRole":
       "%s"}
  ]
}
"""
PLACES = {
    "a number of nodes": (NODES, 7),
    "a type": (POD % ("%s", "a.example/b:1.0", 1, "a"), 6),
    "devices": (POD % ("p5.48xlarge", "a.example/b:1.0", "%s", "a"), 14),
    "a file system": (VOLUME % ("fsx.csi.aws.com", "%s", "a"), 9),
    "a bucket": (VOLUME % ("s3.csi.aws.com", "a", "%s"), 10),
    "a subnet of a class": (CLASS, 6),
    "a reservation": (NODE_CLASS, 11),
    "a VPC": (CLUSTER, 5),
    "an account": (ACCOUNT, 6),
    "a subnet of Slurm": (SLURM, 6),
    "a role of HyperPod": (REQUEST, 7),
}
"""Texts with a place for a mark, and the line of it."""
MARKS = [
    *("$VALUE", "${VALUE}", "<your-value>", "<<VALUE>>", "<VALUE>", "PLACEHOLDER_VALUE"),
    *(
        "REPLACE_ME",
        "CHANGEME",
        "CHANGE_ME",
        "YOUR_VALUE",
        "TODO",
        "FIXME",
        "xxxxxxxxxxxx",
        "vol-xxxxxxxx",
    ),
]
OF_SHAPE = ("SCH002", "SCH004", "SCH005", "SCH006", "NAM003")
"""What a schema says of a word that is no number, whoever left it."""


def found(folder: Path, text: str, beside: Sequence[tuple[str, str]] = ()) -> list[Diagnostic]:
    ends = "json" if text.startswith("{") else "yaml"
    (folder / f"a.{ends}").write_text(text, encoding="utf-8")
    for name, content in beside:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return lint([folder], Options(today=DAY)).diagnostics


def lines(findings: Sequence[Diagnostic], *codes: str) -> list[int]:
    places = (each.span for each in findings if each.code in (codes or ("SCH055",)))
    return sorted(span.line for span in places if span is not None)


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("place", PLACES)
def test_a_mark_is_said_at_its_line(tmp_path: Path, place: str, mark: str) -> None:
    text, line = PLACES[place]
    findings = found(tmp_path, text % mark)
    assert set(lines(findings, "SCH055", *OF_SHAPE)) == {line}
    assert all(each.severity is Severity.WARNING for each in findings if each.code == "SCH055")


@pytest.mark.parametrize("place", PLACES)
def test_a_value_is_none(tmp_path: Path, place: str) -> None:
    text, _ = PLACES[place]
    values = {
        "a number of nodes": "2",
        "devices": "8",
        "a type": "p5.48xlarge",
        "an account": "111122223333",
    }
    value = values.get(
        place,
        {"a VPC": "vpc-0a1b2c3d", "a reservation": "cr-0a1b2c3d"}.get(place, "subnet-0a1b2c3d"),
    )
    assert lines(found(tmp_path, text % value)) == []


ENVIRONMENT = {
    "<your-hf-token>": True,
    "REPLACE_ME": True,
    "YOUR_MODEL": True,
    "<none>": False,
    "$(POD_IP)": False,
    "IMAGE_PLACEHOLDER": False,
    '"a <b> c"': False,
}


@pytest.mark.parametrize("value", ENVIRONMENT)
def test_a_variable_of_a_container_is_a_mark_as_a_whole(tmp_path: Path, value: str) -> None:
    text = POD % ("p5.48xlarge", "a.example/b:1.0", 8, value)
    assert bool(lines(found(tmp_path, text))) is ENVIRONMENT[value]


def test_one_finding_for_each_mark_of_a_file(tmp_path: Path) -> None:
    job = NODES % "$NODES"
    findings = found(
        tmp_path, f"{job}---\n{job.replace('fsdp', 'b')}---\n{NODES.replace('fsdp', 'c') % '$MORE'}"
    )
    said = [each for each in findings if each.code == "SCH055"]
    assert lines(said) == [7, 31]
    assert [each.notes for each in said] == [("1 more value of this file is the same",), ()]


CHART = "apiVersion: v2\nname: a\nversion: 1.0.0\n"
STAGE = """apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: flux-system}
spec:
  interval: 10m
  prune: true
  path: ./
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild: {substitute: {NODES: "4"}}
"""
RELEASE = """apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: flux-system}
spec: {interval: 10m, chartRef: {kind: OCIRepository, name: a}}
"""
FILLED = {
    "a page with envsubst": (
        "$NODES",
        [("README.md", "export NODES=4\n\nenvsubst < a.yaml | kubectl apply -f -\n")],
    ),
    "a page that names the file": (
        "${N}",
        [("README.md", "`cat a.yaml | envsubst | kubectl apply -f -`\n")],
    ),
    "a script with sed": (
        "<<NODES>>",
        [("up.sh", "sed 's/<<NODES>>/4/' *.yaml | kubectl apply -f -\n")],
    ),
    "sed's word": (
        "PLACEHOLDER_NODES",
        [("Makefile", "up:\n\tsed s/PLACEHOLDER_NODES/4/ a.yaml\n")],
    ),
    "Terraform": (
        "${nodes}",
        [("main.tf", 'x = templatefile("${path.module}/a.yaml", { nodes = 4 })\n')],
    ),
    "Flux": ("${NODES}", [("stage.yaml", STAGE)]),
    "Flux elsewhere": ("${NODES}", [("release.yaml", RELEASE)]),
    "a template of a tool": ("{{ nodes }}", []),
}
UNFILLED = {
    "nothing beside": ("$NODES", []),
    "a page for people": (
        "<NODES>",
        [("README.md", "Replace `<NODES>` and `kubectl apply -f a.yaml`.\n")],
    ),
    "a tool for another file": (
        "$NODES",
        [("README.md", "envsubst < b.yaml\n\nkubectl apply -f a.yaml\n")],
    ),
    "a tool for another value": ("<NODES>", [("up.sh", "sed 's/<ZONE>/a/' b.yaml\n")]),
    "a page of another folder": ("$NODES", [("b/README.md", "NODES=4 envsubst < a.yaml\n")]),
    "Helm without a chart": ('"{{ .Values.nodes }}"', []),
}


@pytest.mark.parametrize("case", FILLED)
def test_what_a_tool_fills_in_is_told_apart(tmp_path: Path, case: str) -> None:
    mark, beside = FILLED[case]
    assert lines(found(tmp_path, NODES % mark, beside)) == []


@pytest.mark.parametrize("case", UNFILLED)
def test_what_nobody_fills_in_is_said(tmp_path: Path, case: str) -> None:
    mark, beside = UNFILLED[case]
    assert lines(found(tmp_path, NODES % mark, beside)) == [7]


def test_a_page_above_counts_in_one_repository(tmp_path: Path) -> None:
    page = "NODES=4 envsubst < k8s/a.yaml | kubectl apply -f -\n"
    inner = tmp_path / "repository/k8s"
    inner.mkdir(parents=True)
    (tmp_path / "README.md").write_text(page, encoding="utf-8")
    assert lines(found(inner, NODES % "$NODES")) == [7]
    (tmp_path / "repository/README.md").write_text(page, encoding="utf-8")
    assert lines(found(inner, NODES % "$NODES")) == [7]
    (tmp_path / "repository/.git").mkdir()
    assert lines(found(inner, NODES % "$NODES")) == []


def test_a_chart_fills_in_its_templates(tmp_path: Path) -> None:
    text = NODES % '"{{ .Values.nodes }}"'
    templates = tmp_path / "templates"
    templates.mkdir()
    assert lines(found(templates, text)) == [7]
    (tmp_path / "Chart.yaml").write_text(CHART, encoding="utf-8")
    assert lines(found(templates, text)) == []


def test_a_template_by_its_name(tmp_path: Path) -> None:
    template = tmp_path / "a.yaml-template"
    template.write_text(NODES % "$NODES", encoding="utf-8")
    assert lines(lint([template], Options(today=DAY)).diagnostics) == []
