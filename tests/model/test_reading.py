"""How a job of a third-party set is joined with what it refers to."""

from __future__ import annotations

import pytest
import yaml
from trainyard.catalog import load_catalog
from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.reading import Reading
from trainyard.lift import lift
from trainyard.output.manifest import Manifest

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: a, namespace: b}}
spec: {{runtimeRef: {{name: {name}, kind: {kind}}}}}
"""
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a, namespace: b}
spec:
  replicatedJobs:
    - name: driver
      template: {spec: {template: {spec: {containers: [{name: d, resources: {limits: {cpu: 2}}}]}}}}
    - name: workers
      replicas: 2
      template:
        spec:
          parallelism: 4
          completions: 3
          template:
            spec:
              initContainers: [{name: tune, resources: {requests: {cpu: 64}}}]
              containers:
                - {name: w, resources: {requests: {cpu: 8}, limits: {cpu: 9, nvidia.com/gpu: 8}}}
                - {name: logs, resources: {requests: {cpu: 1}}}
"""


def read(text: str) -> Reading:
    """Third-party objects."""
    manifests = [Manifest(body) for body in yaml.safe_load_all(text)]
    return Reading(lift(manifests, closed=False), load_catalog(), manifests)


@pytest.mark.parametrize(
    ("name", "kind", "known"),
    [
        ("torch-distributed", "ClusterTrainingRuntime", True),
        ("torch-distributed", "TrainingRuntime", False),
        ("team-runtime", "ClusterTrainingRuntime", False),
    ],
)
def test_a_runtime_that_trainer_brings_is_known(name: str, kind: str, known: bool) -> None:
    """Those of the cluster alone: one of a namespace of that name is somebody's own."""
    (work,) = read(JOB.format(name=name, kind=kind)).works
    assert (work.runtime is not None) is known


def test_the_pods_of_a_job_set_by_their_parts() -> None:
    """No more run at once than have to complete; a request counts, and an init container that takes more."""
    reading = read(JOBSET)
    (gang,) = reading.gangs
    parts = {pods.name: (pods.count, str(pods.asks["cpu"])) for pods in pod_sets(gang)}
    assert parts == {"driver": (1, "2"), "workers": (6, "64")}
    assert gang.nodes == 6
    assert str(gang.asks["cpu"]) == "8"
    assert [work.nodes for work in reading.pods] == [6]


@pytest.mark.parametrize(
    ("capacity", "known"), [("hugepages-2Mi: 10256Mi", True), ("example.com/fpga: 1", False)]
)
def test_karpenter_knows_huge_pages_by_an_overlay(capacity: str, known: bool) -> None:
    overlay = f"""\
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {{name: gpu}}
spec:
  requirements: [{{key: karpenter.sh/nodepool, operator: In, values: [gpu]}}]
  capacity: {{{capacity}}}
"""
    assert read(overlay).knows_huge_pages is known
