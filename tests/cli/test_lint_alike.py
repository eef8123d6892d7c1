"""Of jobs that are alike much is looked at once, and what is wrong with one is found wherever it stands among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from running import Command

pytestmark = pytest.mark.needs("lint")

JOB = """\
# Written by trainyard as jobs/training.trainjob-{name}.yaml.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: training
  labels:
    team: research
    trainyard.dev/job: {name}
    kueue.x-k8s.io/queue-name: l40s
  annotations:
    kustomize.toolkit.fluxcd.io/prune: disabled
spec:
  runtimeRef:
    kind: ClusterTrainingRuntime
    name: torch-l40s
  trainer:
    numNodes: 2
    numProcPerNode: 8
    image: registry.test/team/train:2.8
    command:
    - torchrun
    - train.py
    - "--seed={seed}"
    env:
    - name: EXPERIMENT
      value: sweep-{seed}
    - name: WANDB_MODE
      value: offline
    - name: NCCL_NET
      value: AWS Libfabric
    - name: PET_RDZV_BACKEND
      value: c10d
    - name: PET_RDZV_ENDPOINT
      value: {name}-node-0-0.{name}:29500
    - name: PET_MAX_RESTARTS
      value: "0"
    resourcesPerNode:
      requests:
        cpu: "190"
        nvidia.com/gpu: "8"
        vpc.amazonaws.com/efa: "4"
      limits:
        cpu: "190"
        nvidia.com/gpu: "8"
        vpc.amazonaws.com/efa: "4"
"""
COUNT, ODD = 6, 7


class Change(NamedTuple):
    """What is written instead in one job, the code of the finding, and so many lines above it is."""

    line: str
    instead: str
    code: str
    above: int = 0


CHANGES = [
    Change("  name: odd", "  name: Odd_1", "NAM001"),
    Change("  namespace: training", "  namespace: of_training", "NAM001"),
    Change("    team: research", '    team: "re search"', "NAM003"),
    Change("    team: research", "    team: hf_abcdefghijklmnopqrstuvwxyz", "ACC014"),
    Change("    kind: ClusterTrainingRuntime", "    kindd: ClusterTrainingRuntime", "SCH001"),
    Change("    numNodes: 2", '    numNodes: "2"', "SCH002"),
    Change("    numNodes: 2", "    numNodes: 99999999999", "SCH005"),
    Change("    numProcPerNode: 8", "    numProcPerNode: 4", "RUN011"),
    Change("    image: registry.test/team/train:2.8", "    image: registry.test/train", "RUN013"),
    Change("    image: registry.test/team/train:2.8", "    image: localhost/train:1", "RUN144"),
    Change("    - torchrun", "    - srun", "RUN140"),
    Change("    - torchrun", "    - cd", "RUN035", 1),
    Change("    - train.py", "    - train.sh", "RUN141"),
    Change("    - train.py", "    - --trust-remote-code", "RUN156"),
    Change('    - "--seed=7"', '    - "--nnodes=4"', "RUN010"),
    Change('    - "--seed=7"', '    - "--epochs=0"', "RUN143"),
    Change('    - "--seed=7"', '    - "--standalone"', "RUN036"),
    Change("    - name: EXPERIMENT", "    - name: HF_TOKEN", "RUN024"),
    Change("    - name: EXPERIMENT", "    - name: NCCL_IB_HCA", "EFA011"),
    Change("    - name: EXPERIMENT", "    - name: MASTER_ADDR", "RUN134"),
    Change("      value: offline", "      value: offfline", "RUN136", 1),
    Change("      value: AWS Libfabric", "      value: Socket", "EFA010", 1),
    Change("      value: odd-node-0-0.odd:29500", "      value: localhost:29500", "RUN009", 1),
    Change('      value: "0"', '      value: "1000"', "RUN146", 1),
    Change('      value: "0"', "      value: 0", "SCH002"),
]


def reported(done_out: str) -> list[tuple[str, int, str]]:
    """File, line and code of each finding."""
    places = json.loads(done_out)["diagnostics"]
    return sorted(
        (Path(each["place"]["file"]).name, each["place"]["line"], each["code"]) for each in places
    )


def _job(name: str, seed: int) -> str:
    return JOB.format(name=name, seed=seed)


def _changed(text: str, change: Change) -> tuple[str, int]:
    """A text with the change, and its line."""
    lines = text.split("\n")
    number = lines.index(change.line)
    lines[number] = change.instead
    return "\n".join(lines), number + 1


def test_jobs_that_are_alike_have_no_finding(trainyard: Command, tmp_path: Path) -> None:
    for seed in range(COUNT):
        (tmp_path / f"{seed}.yaml").write_text(_job(f"job-{seed}", seed))
    assert reported(trainyard("lint", "--format", "json", tmp_path).out) == []


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_the_one_that_differs_is_found(trainyard: Command, tmp_path: Path, change: Change) -> None:
    """First, in the middle and last; and in one file with the others, where it is the one that differs as well."""
    odd, line = _changed(_job("odd", ODD), change)
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "odd.yaml").write_text(odd)
    by_itself = reported(trainyard("lint", "--format", "json", alone).out)
    assert ("odd.yaml", line - change.above, change.code) in by_itself
    for place in (0, COUNT // 2, COUNT):
        texts = [_job(f"job-{seed}", seed) for seed in range(COUNT)]
        texts.insert(place, odd)
        folder = tmp_path / str(place)
        folder.mkdir()
        names = [f"{number}.yaml" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            (folder / name).write_text(text)
        found = reported(trainyard("lint", "--format", "json", folder).out)
        assert found == [(names[place], number, code) for _, number, code in by_itself]
        together = tmp_path / f"{place}.yaml"
        together.write_text("---\n".join(texts))
        before = sum(text.count("\n") + 1 for text in texts[:place])
        found = reported(trainyard("lint", "--format", "json", together).out)
        assert found == [(together.name, before + number, code) for _, number, code in by_itself]
