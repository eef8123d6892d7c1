"""An elastic job that may start with one node is judged as the gang that it grows to."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Command

pytestmark = pytest.mark.needs("hyperpod")

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


THIRD_PARTY = """\
apiVersion: sagemaker.amazonaws.com/v1
kind: HyperPodPyTorchJob
metadata: {name: elastic, namespace: team}
spec:
  nprocPerNode: "8"
  elasticPolicy: {minReplicas: 1, maxReplicas: 4}
  replicaSpecs:
    - name: pod
      replicas: 1
      maxReplicas: 4
      template:
        spec:
          nodeSelector: {node.kubernetes.io/instance-type: ml.p5.48xlarge}
          containers:
            - name: train
              image: registry.example/train@sha256:0000000000000000000000000000000000000000000000000000000000000000
              command: [hyperpodrun, --nnodes=1:4, train.py]
              resources:
                limits: {nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32, hugepages-2Mi: 5120Mi, memory: 1000Gi, cpu: 100}
"""


@pytest.mark.needs("lint")
@pytest.mark.parametrize("most", ["maxReplicas: 4", "maxReplicas: 1"])
def test_so_is_one_that_others_wrote(most: str, tmp_path: Path, trainyard: Command) -> None:
    text = THIRD_PARTY.replace("maxReplicas: 4", most)
    (tmp_path / "job.yaml").write_text(text)
    done = trainyard("lint", "job.yaml", cwd=tmp_path)
    assert ("EFA003" in done.out) is (most == "maxReplicas: 1"), done.out
