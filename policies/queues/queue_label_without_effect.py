from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import indexed, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule(
    "QUE013",
    severity=Severity.WARNING,
    kinds=(
        "/Service",
        "/ConfigMap",
        "/Secret",
        "/ServiceAccount",
        "/PersistentVolumeClaim",
        "trainer.kubeflow.org/ClusterTrainingRuntime",
        "trainer.kubeflow.org/TrainingRuntime",
    ),
)
def queue_label_without_effect(manifest: Manifest) -> Iterator[Finding]:
    """The queue label is on an object that is no workload.

    Kueue reads `kueue.x-k8s.io/queue-name` on jobs only (kueue v0.19.2, integrations): elsewhere it queues nothing,
    and looks as if it did.

    ## Fails

        apiVersion: v1
        kind: Service
        metadata: {name: rendezvous, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {ports: [{port: 29500}]}

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {metadata: {
          labels: {kueue.x-k8s.io/queue-name: research}}}}}}]}}}

    ## Passes

        jobs: [{name: llama}]
    """
    if value_at(manifest.body, *_LABEL) is not None:
        yield Finding(
            f"`{manifest.ref}` has a queue label and is no workload",
            Route((manifest.id, *_LABEL)),
            help="put the label on the TrainJob",
            key=True,
        )
    jobs: Path = ("spec", "template", "spec", "replicatedJobs")
    for index, job in indexed(manifest.body, *jobs):
        for inner in (("template",), ("template", "spec", "template")):
            if value_at(job, *inner, *_LABEL) is not None:
                at = (*jobs, index, *inner, *_LABEL)
                yield Finding(
                    f"`{manifest.ref}` gives a queue label to a part of a job",
                    Route((manifest.id, *at)),
                    help="put the label on the TrainJob",
                    key=True,
                )


Path = tuple[str, ...]
_LABEL = ("metadata", "labels", "kueue.x-k8s.io/queue-name")
