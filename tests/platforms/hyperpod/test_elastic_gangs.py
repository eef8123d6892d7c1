"""An elastic job that may start with one node is judged as the gang that it grows to."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Command

SPEC = """\
apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: elastic}
spec:
  account: "111122223333"
  region: us-west-2
  platform: {hyperPod: {taskGovernance: {}}}
  network:
    existing:
      vpc: vpc-0a1b2c3d4e5f60718
      subnets:
        - {id: subnet-0a1b2c3d4e5f60718, zone: us-west-2a, cidr: 10.0.0.0/18}
        - {id: subnet-0a1b2c3d4e5f60719, zone: us-west-2b, cidr: 10.0.64.0/18}
  nodePools:
    - {name: worker, instanceTypes: [p5.48xlarge], zones: [us-west-2a], nodes: 4}
  queues:
    - {name: research, namespaces: [hyperpod-ns-research], quota: [{pool: worker, nodes: 4}]}
  jobs:
    - name: tune
      kind: HyperPodPyTorchJob
      nodes: 4
      minNodes: LEAST
      timeout: 8h
      image: huggingface/transformers-pytorch-gpu:4.46.3
      command: [hyperpodrun, train.py]
"""


@pytest.mark.parametrize("least", [1, 2])
def test_its_nodes_talk_over_efa(least: int, tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC.replace("LEAST", str(least)))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "EFA003" not in done.out
    assert "error[RUN120]" in done.out, done.out
