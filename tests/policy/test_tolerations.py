"""Pods beside those of the trainer must tolerate what the flavor of their queue leads to."""

from __future__ import annotations

import pytest

from tests.policy.harness import findings_for

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
spec:
  template:
    spec:
      replicatedJobs:
        - name: dataset-initializer
          template:
            metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}}}
            spec:
              template:
                spec:
                  restartPolicy: Never
                  tolerations: {tolerations}
                  containers:
                    - name: dataset-initializer
                      image: ghcr.io/kubeflow/trainer/dataset-initializer:v2.2.0
                      resources: {{requests: {{cpu: 2, memory: 4Gi}}, limits: {{cpu: 2, memory: 4Gi}}}}
        - name: node
          template:
            metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: trainer}}}}
            spec:
              template:
                spec:
                  restartPolicy: Never
                  nodeSelector: {{karpenter.sh/nodepool: gpu}}
                  tolerations: [{{key: nvidia.com/gpu, operator: Exists}}]
                  containers: [{{name: node}}]
"""


@pytest.mark.parametrize(
    ("tolerations", "count"), [("[]", 1), ("[{key: nvidia.com/gpu, operator: Exists}]", 0)]
)
def test_an_initializer_on_the_nodes_of_its_flavor(tolerations: str, count: int) -> None:
    found = [
        each
        for each in findings_for(RUNTIME.format(tolerations=tolerations))
        if each.code == "QUE003"
    ]
    assert len(found) == count
    for each in found:
        assert "`dataset-initializer` of " in each.message
        assert "does not tolerate `nvidia.com/gpu=present:NoSchedule` of pool `gpu`" in each.message
