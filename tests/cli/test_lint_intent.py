"""One fault of an object does not hide the others: the body is judged as it was meant."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import lint
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: b}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 30
  containers:
  - name: a
    image: "busybox:1.37"
    volumeMounts: [{name: data, mountPath: /data}]
"""
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: one, resources: [{name: cpu, nominalQuota: 1}]}]
  - coveredResources: [cpu]
    flavors: [{name: two, resources: [{name: cpu, nominalQuota: 1}]}]
"""
OLD = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: a, namespace: b}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: 1, numProcPerNode: auto}
  podTemplateOverrides:
  - targetJobs: [{name: node}]
    spec: {terminationGracePeriodSecond: 60}
"""


def reported(folder: Path, text: str) -> list[tuple[str, int]]:
    (folder / "a.yaml").write_text(text)
    return sorted(
        (each.code, each.span.line if each.span else 0)
        for each in lint([folder], Options(today=date(2026, 11, 21))).diagnostics
    )


MOUNT = ("SCH011", 10)  # there is no volume of the name


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("restartPolicy: Never", "restartPolicy: Never", None),
        ("restartPolicy: Never", "restartPolcy: Never", ("SCH001", 5)),
        ("restartPolicy: Never", "somethingElse: Never", ("SCH001", 5)),
        ("restartPolicy: Never", "restartPolicy: Nevr", ("SCH004", 5)),
        ("restartPolicy: Never", "restartPolicy: [Never]", ("SCH002", 5)),
        ("Seconds: 30", 'Seconds: "30"', ("SCH002", 6)),
        ("Seconds: 30", "Seconds: half a minute", ("SCH002", 6)),
        ('    image: "busybox:1.37"\n', "    ports: []\n", ("SCH003", 8)),
        ("  containers:\n", "  nodeSelector: {a: 1}\n  containers:\n", ("SCH002", 7)),
    ],
)
def test_a_fault_of_the_schema_hides_no_other(
    old: str, new: str, fault: tuple[str, int] | None, tmp_path: Path
) -> None:
    mount = ("SCH011", 11) if new.count("\n") == 2 else MOUNT
    found = sorted([fault, mount] if fault else [mount])
    assert reported(tmp_path, POD.replace(old, new)) == found


def test_what_is_filled_in_later_is_said_to_be_left_so(tmp_path: Path) -> None:
    text = POD.replace("Seconds: 30", "Seconds: ${GRACE}").replace("name: data", 'name: "${DATA}"')
    lines = [number for number, line in enumerate(text.splitlines(), 1) if "${" in line]
    found = reported(tmp_path, text)
    assert {code for code, _ in found} == {"SCH055"}
    assert {line for _, line in found} <= set(lines)


def test_a_key_is_unknown_whatever_fills_its_value(tmp_path: Path) -> None:
    assert reported(
        tmp_path, POD.replace("restartPolicy: Never", "restartPolice: ${POLICY}")
    ) == sorted([("SCH001", 5), MOUNT])


def test_a_group_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    assert reported(tmp_path, QUEUE) == [("SCH011", 9)]
    assert reported(tmp_path, QUEUE.replace("namespaceSelector: {}", "namespaceSelector: []")) == [
        ("SCH002", 5),
        ("SCH011", 9),
    ]


def test_the_version_that_fits_best_is_chosen(tmp_path: Path) -> None:
    """Trainer 2.1 has this field, and no later one: what is wrong is the word inside."""
    assert reported(tmp_path, OLD) == [("SCH001", 9)]


def test_a_document_that_is_no_yaml_hides_no_other(tmp_path: Path) -> None:
    assert reported(tmp_path, f"apiVersion: v1\nkind: Pod\nmetadata: {{name: [}}\n---\n{POD}") == [
        ("SCH011", 14),
        ("YML002", 3),
    ]


PYTORCH_JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a, namespace: x}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: pytorch
            image: pytorch/pytorch:latest
            command: [python, train.py, --hub-token=hf_abcdefghijklmnopqrstuvwxyz]
            resources: {limits: {nvidia.com/gpu: 9, memory: 10Gi}}
"""
TOKEN = "RUN024"


@pytest.mark.parametrize(
    ("text", "written", "first"),
    [
        ("  pytorchReplicaSpecs:", "  replicaSpecs:", "SCH001"),
        ("replicas: 2", 'replicas: "2"', "SCH002"),
        ("replicas: 2", "replicas: [2]", "SCH002"),
        (
            "[python, train.py, --hub-token=hf_abcdefghijklmnopqrstuvwxyz]",
            "python train.py --hub-token=hf_abcdefghijklmnopqrstuvwxyz",
            "SCH002",
        ),
        ("apiVersion: kubeflow", "$ cat job.yaml\napiVersion: kubeflow", "YML002"),
        ("apiVersion: kubeflow", "me@host:~$ cat job.yaml\napiVersion: kubeflow", "YML002"),
        ("nvidia.com/gpu:", "nvidia.com/gpus:", "EFA004"),
        ("nvidia.com/gpu:", "nvidia/gpu:", "EFA004"),
    ],
)
def test_a_fault_does_not_hide_what_is_below_or_beside_it(
    text: str, written: str, first: str, tmp_path: Path
) -> None:
    (tmp_path / "job.yaml").write_text(PYTORCH_JOB.replace(text, written))
    done = lint([tmp_path], Options(today=date(2026, 11, 23)))
    found = {finding.code: finding for finding in done.all()}
    assert {first, TOKEN, "RUN013", "LIM006"} <= set(found)
    span = found[TOKEN].span
    assert span is not None
    assert "command:" in span.file.line(span.line)
