from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.policy.rule import Finding, rule
from compiler.policy.values import value
from compiler.source import Route


@rule("QUE013", severity=Severity.WARNING, kinds=("/Service", "/ConfigMap", "/Secret", "/ServiceAccount",
      "/PersistentVolumeClaim", "trainer.kubeflow.org/ClusterTrainingRuntime", "trainer.kubeflow.org/TrainingRuntime"))
def queue_label_without_effect(manifest: Manifest) -> Iterator[Finding]:
    """The queue label is on an object that is no workload.

    Kueue reads `kueue.x-k8s.io/queue-name` on jobs only (kueue v0.19.2, integrations): elsewhere it queues nothing,
    and looks as if it did.

    ## Fails

        apiVersion: v1
        kind: Service
        metadata: {name: rendezvous, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {ports: [{port: 29500}]}

    ## Passes

        jobs: [{name: llama}]
    """
    labels = value(manifest.body, "metadata", "labels")
    if isinstance(labels, Mapping) and QUEUE in labels:
        yield Finding(f"`{manifest.ref}` has a queue label and is no workload",
                      Route((manifest.id, "metadata", "labels", QUEUE)), help="put the label on the TrainJob", key=True)


QUEUE = "kueue.x-k8s.io/queue-name"
