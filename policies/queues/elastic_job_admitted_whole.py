from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.elastic import bounds_of
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import Manifest

_QUEUE = "kueue.x-k8s.io/queue-name"


@rule("LIM032", severity=Severity.WARNING, kinds=("kubeflow.org/PyTorchJob",))
def elastic_job_admitted_whole(manifest: Manifest) -> Iterator[Finding]:
    """A job that could start with fewer workers goes to a queue that admits all of them or none.

    Kueue counts the replicas that the job names. Only a batch Job is admitted in part (`job-min-parallelism`), and
    only Jobs, RayJobs and RayClusters may change their size while they run (kueue v0.19.2, partial admission, elastic
    workloads): the lower bound of a PyTorchJob has no effect in a queue, and after a change of its replicas Kueue
    admits it again.

    ## Fails

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 4}
          pytorchReplicaSpecs: {Worker: {replicas: 4}}

    ## Passes

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 4, maxReplicas: 4}
          pytorchReplicaSpecs: {Worker: {replicas: 4}}

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 4}
          pytorchReplicaSpecs: {Worker: {replicas: 4}}
    """
    bounds = bounds_of(manifest)
    queue = mapping(manifest.body, "metadata", "labels").get(_QUEUE)
    if bounds is None or not queue:
        return
    if bounds.least >= bounds.most:
        return
    workers = f"{bounds.least} to {bounds.most} workers"
    yield Finding(
        f"job `{manifest.ref.name}` may have {workers}, and queue `{queue}` admits all or none",
        bounds.at / "minReplicas",
        label="the lower bound has no effect",
        help="write the number of workers that it shall have for both bounds",
    )
