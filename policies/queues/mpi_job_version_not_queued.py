from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_QUEUE = "kueue.x-k8s.io/queue-name"


@rule("RUN090", kinds=("kubeflow.org/MPIJob",))
def mpi_job_version_not_queued(manifest: Manifest) -> Iterator[Finding]:
    """An MPIJob of the training operator has a queue.

    The training operator and the MPI operator have an MPIJob each, of one group and kind: `kubeflow.org/v1` and
    `kubeflow.org/v2beta1`. Kueue manages v2beta1 alone (kueue v0.19.2, pkg/controller/jobs/mpijob): one of v1 starts
    at once, outside every quota, and not as a gang.

    ## Fails

        apiVersion: kubeflow.org/v1
        kind: MPIJob
        metadata: {name: ring, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
        spec: {mpiReplicaSpecs: {Launcher: {replicas: 1}, Worker: {replicas: 2}}}

    ## Passes

        jobs: [{name: llama, kind: MPIJob, launcher: {mpi: {}}, command: [mpirun, ring]}]

        apiVersion: kubeflow.org/v1
        kind: MPIJob
        metadata: {name: ring, namespace: team-a}
        spec: {mpiReplicaSpecs: {Launcher: {replicas: 1}, Worker: {replicas: 2}}}
    """
    queue = mapping(manifest.body, "metadata", "labels").get(_QUEUE)
    if queue and manifest.body["apiVersion"] == "kubeflow.org/v1":
        yield Finding(
            f"job `{manifest.ref.name}` is an MPIJob of `kubeflow.org/v1`, which queue `{queue}` never sees",
            Route((manifest.id, "apiVersion")),
            label="Kueue manages v2beta1",
            help="write it as `kubeflow.org/v2beta1`, for the MPI operator",
        )
