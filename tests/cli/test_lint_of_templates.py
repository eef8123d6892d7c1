"""What a file leaves to be filled in, and what stands at a wrong place, silences nothing but what reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import lint
from trainyard.language.diagnostics import Diagnostic
from trainyard.run.examples.pages import DAY
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

JOB = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: fsdp, namespace: team-a}}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: {nodes}
      restartPolicy: OnFailure
      template:
        spec:
          containers:
            - name: pytorch
              image: {image}:latest
              resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}
              env:
                - {{name: TORCH_DISTRIBUTED_DEBUG, value: DETAIL}}
                - {{name: HF_TOKEN, value: "{token}"}}
              command: [torchrun, --nproc_per_node={gpus}, --nnodes={nodes}, /fsdp/train.py]
"""
FORMS = {
    "a variable": "$VALUE",
    "a variable in braces": "${VALUE}",
    "a person's": "<VALUE>",
    "a template in quotes": '"{{ .Values.value }}"',
    "a template": "{{ .Values.value }}",
    "sed's": "PLACEHOLDER_VALUE",
}


def found(path: Path, text: str) -> list[Diagnostic]:
    file = path / "job.yaml"
    file.write_text(text)
    return lint([file], Options(today=DAY)).diagnostics


def codes(path: Path, text: str) -> set[str]:
    return {each.code for each in found(path, text)}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_counts_that_are_filled_in_silence_only_what_reads_them(tmp_path: Path, form: str) -> None:
    inside = form.strip('"')
    text = JOB.format(nodes=form, gpus=form, image="registry.example/train", token="$(TOKEN)")
    if form != inside:  # no part of a word can be in quotes
        text = text.replace(f"={form}", f"={inside}")
    assert codes(tmp_path, text) == {"RUN013", "LIM005", "RUN124", "SCH055"}


def test_with_numbers_more_is_told(tmp_path: Path) -> None:
    text = JOB.format(nodes=4, gpus=8, image="registry.example/train", token="$(TOKEN)")
    assert codes(tmp_path, text) > {"RUN013", "LIM005", "RUN124"}


@pytest.mark.parametrize("form", ["${REGISTRY}/train", "<registry>/train"])
def test_the_tag_of_an_image_is_judged_without_its_registry(tmp_path: Path, form: str) -> None:
    text = JOB.format(nodes=1, gpus=8, image=form, token="$(TOKEN)")
    assert "RUN013" in codes(tmp_path, text)


@pytest.mark.parametrize("form", ["${HF_TOKEN}", "$HF_TOKEN", "<token>", "{{ .Values.token }}"])
def test_a_token_that_is_filled_in_as_plain_text(tmp_path: Path, form: str) -> None:
    text = JOB.format(nodes=1, gpus=1, image="registry.example/train", token=form)
    (finding,) = [each for each in found(tmp_path, text) if each.code == "RUN024"]
    assert finding.message == "`HF_TOKEN` of job `fsdp` is filled in as plain text"
    assert finding.secret


@pytest.mark.parametrize(
    ("command", "is_told"),
    [
        ("HF_TOKEN={{ .Values.token }} python train.py", True),
        ("python train.py --hf-token {{ .Values.token }} --lr 1", True),
        ("python train.py --token=<token>", True),
        ("HF_TOKEN=$HF_TOKEN python train.py", False),
        ("export HF_TOKEN=$(cat /run/secrets/hf) && python train.py", False),
        ("python train.py --pad-token {{ .Values.pad }}", False),
    ],
)
def test_a_token_in_a_command(tmp_path: Path, command: str, is_told: bool) -> None:
    text = JOB.format(nodes=1, gpus=1, image="registry.example/train", token="$(TOKEN)")
    before, _, _ = text.partition("              command:")
    text = f"{before}              command: [bash, -c, '{command}']\n"
    assert ("RUN024" in codes(tmp_path, text)) is is_told


POD = """apiVersion: batch/v1
kind: Job
metadata: {name: bert, namespace: team-a}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge}
      containers:
        - name: train
          image: registry.example/train:latest
          resources: {limits: {nvidia.com/gpu: 8}}
          env: [{name: TORCH_DISTRIBUTED_DEBUG, value: DETAIL}, {name: NCCL_DEBUG, value: TRACE}]
          command: [torchrun, --nproc_per_node=8, train.py]
"""
SAID = {"RUN013", "LIM005", "LIM006", "RUN124"}
WRONG = {
    "a field of the pod in a container": (
        "      nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge}\n",
        "",
        "          command:",
        "          nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge}\n          command:",
    ),
    "limits beside the resources": ("resources: {limits: {nvidia.com/gpu: 8}}", "limits: {nvidia.com/gpu: 8}"),
    "a device beside the limits": ("{limits: {nvidia.com/gpu: 8}}", "{nvidia.com/gpu: 8}"),
    "retries of the job in the pod": (
        "  backoffLimit: 0\n",
        "",
        "      restartPolicy: Never\n",
        "      restartPolicy: Never\n      backoffLimit: 0\n",
    ),
    "one container without a dash": ("        - name: train", "          name: train"),
    "variables as a mapping": (
        "[{name: TORCH_DISTRIBUTED_DEBUG, value: DETAIL}, {name: NCCL_DEBUG, value: TRACE}]",
        "{TORCH_DISTRIBUTED_DEBUG: DETAIL, NCCL_DEBUG: TRACE}",
    ),
    "a command as one line": (
        "[torchrun, --nproc_per_node=8, train.py]",
        "torchrun --nproc_per_node=8 train.py",
    ),
    "a pod without its spec": (
        "    spec:\n      restartPolicy: Never\n      nodeSelector",
        "    restartPolicy: Never\n    nodeSelector",
        "      containers:",
        "    containers:",
    ),
}  # fmt: skip


def test_what_stands_right_has_no_fault(tmp_path: Path) -> None:
    assert codes(tmp_path, POD) == SAID


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_below_a_fault_everything_is_judged(tmp_path: Path, changes: tuple[str, ...]) -> None:
    text = POD
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    faults = found(tmp_path, text)
    told = {each.code for each in faults}
    assert told >= SAID - _at_the_fault(changes)
    assert told & {"SCH001", "SCH002"}
    assert told <= SAID | {"SCH001", "SCH002"}


def _at_the_fault(changes: tuple[str, ...]) -> set[str]:
    """What would be found at the very field that is wrong, which its fault is about."""
    return {"LIM005"} if changes[0].startswith("resources:") else set()
