"""What a job runs beside its own command and variables: the roles of a JobSet, and the variables of an image that is
built here. They are judged like the job's own, and each finding is on the line that says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import data_of
from running import Command

TOKEN = "hf_abcdefghijklmnopqrstuvwxyz"
KEY = "0123456789abcdef0123456789abcdef01234567"
DIGEST = "1b" * 32
BASE = "public.ecr.aws/deep-learning-containers/pytorch-training"
HEAD = """\
apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: lab}
spec:
  account: "111122223333"
  region: us-west-2
  flux: {url: "https://github.com/example/clusters"}
  nodePools: [{name: l40s, instanceTypes: [g6e.48xlarge], zones: [us-west-2a], nodes: {max: 4}}]
"""
JOB_SET = f"""
  jobs:
  - name: train
    kind: JobSet
    nodes: 2
    image: {BASE}:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0
    command: [torchrun, /app/train.py]
    roles:
    - name: rollout
      nodes: 1
"""
IMAGE = f"""
  images:
  - name: train
    base: {BASE}@sha256:{DIGEST}
    build: {{githubActions: {{}}}}
    lock: train.lock
    env:
      HF_HOME: /cache
"""
JOB = """
  jobs:
  - {name: train, nodes: 2, timeout: 1h, image: train, command: [torchrun, /app/train.py], env: %s}
"""
ROLES = [
    ("RUN024", "command: [python, r.py]", f"args: [--wandb-key={KEY}]", "args:"),
    ("RUN024", "command: [python, r.py]", f"env: {{HF_TOKEN: {TOKEN}}}", "env:"),
    ("RUN024", "args: [--all]", f"command: [python, r.py, --hub-token={TOKEN}]", "command:"),
    ("RUN035", "args: [--all]", 'command: [python, r.py, "&&", echo, done]', "command:"),
    ("RUN039", "args: []", 'command: [bash, -c, "pip install vllm && python r.py"]', "command:"),
    ("RUN042", "command: [python, r.py]", 'env: {PATH: "/opt/bin:$PATH"}', "env:"),
    ("RUN123", "command: [python, r.py]", 'args: ["--lr 3e-4"]', "args:"),
    ("RUN124", "command: [python, r.py]", 'env: {NCCL_P2P_DISABLE: "1"}', "env:"),
    ("RUN128", "args: []", "command: [torchrun]", "command:"),
    ("RUN130", "command: [python, r.py]", f"args: [{'x' * 140_000}]", "args:"),
    ("RUN136", "command: [python, r.py]", "env: {NCCL_DEBUG: VERBOSE}", "env:"),
]
VARIABLES = [
    ("EFA010", "FI_PROVIDER: tcp"),
    ("RUN042", 'PATH: "/opt/bin:$PATH"'),
    ("RUN064", f"HF_TOKEN: {TOKEN}"),
    ("RUN064", "DB_PASSWORD: hunter2"),
    ("RUN124", 'NCCL_P2P_DISABLE: "1"'),
    ("RUN125", 'TORCH_NCCL_ASYNC_ERROR_HANDLING: "0"'),
    ("RUN136", "NCCL_DEBUG: VERBOSE"),
]


def reported(text: str, folder: Path, trainyard: Command) -> list[tuple[str, str]]:
    """Each code with the line that it points at; notes of what waits for a build are left out."""
    assert data_of(text)
    file = folder / "spec.yaml"
    file.write_text(text)
    done = trainyard("check", "--format", "json", file.name, cwd=folder)
    found: list[dict[str, Any]] = json.loads(done.out)["diagnostics"]
    lines = text.split("\n")
    pairs = [(each["code"], lines[each["place"]["line"] - 1].strip()) for each in found]
    return [pair for pair in pairs if pair[0] != "RES141"]


@pytest.mark.parametrize(
    ("code", "other", "said", "key"), ROLES, ids=[f"{code}-{key[:-1]}" for code, _, _, key in ROLES]
)
def test_a_role_is_judged_like_the_job(
    code: str, other: str, said: str, key: str, tmp_path: Path, trainyard: Command
) -> None:
    text = f"{HEAD}{JOB_SET}      {other}\n      {said}\n"
    assert reported(text, tmp_path, trainyard) == [(code, said)]


def test_a_role_without_fault_is_clean(tmp_path: Path, trainyard: Command) -> None:
    text = f"{HEAD}{JOB_SET}      command: [python, r.py, --all]\n      env: {{HF_HOME: /cache}}\n"
    assert reported(text, tmp_path, trainyard) == []


@pytest.mark.slow
@pytest.mark.parametrize(("code", "said"), VARIABLES, ids=[said for _, said in VARIABLES])
def test_a_variable_of_an_image_is_one_of_its_jobs(
    code: str, said: str, tmp_path: Path, trainyard: Command
) -> None:
    text = f"{HEAD}{IMAGE}      {said}\n{JOB % '{}'}"
    assert reported(text, tmp_path, trainyard) == [(code, said)]


@pytest.mark.needs("images")
def test_a_variable_of_the_job_replaces_that_of_its_image(
    tmp_path: Path, trainyard: Command
) -> None:
    own = '{NCCL_P2P_DISABLE: "0"}'
    text = f"{HEAD}{IMAGE}      NCCL_P2P_DISABLE: '1'\n{JOB % own}"
    assert reported(text, tmp_path, trainyard) == []
