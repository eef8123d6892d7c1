from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import mapping, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_ROLES = "pytorchReplicaSpecs"


@rule("RUN155", severity=Severity.WARNING, kinds=("kubeflow.org/PyTorchJob",))
def restart_layers_without_limit(manifest: Manifest) -> Iterator[Finding]:
    """torchrun and the training operator both restart a PyTorchJob, and nothing limits the operator.

    `elasticPolicy.maxRestarts` is torchrun's limit, and begins again at 0 in each new container. `restartPolicy` lets
    the kubelet or the operator make that container again for ever, unless `runPolicy.backoffLimit` counts
    (training-operator v1.9.4, pkg/core/job.go PastBackoffLimit, which is false without it; pkg/controller.v1/pytorch,
    PET_MAX_RESTARTS). A program that always fails then holds its GPUs until somebody looks. Only a PyTorchJob has both.

    ## Fails

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: lora, namespace: team-a}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 2, maxRestarts: 3}
          pytorchReplicaSpecs: {Worker: {replicas: 2, restartPolicy: OnFailure}}

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: lora, namespace: team-a}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 2, maxRestarts: 1}
          pytorchReplicaSpecs: {Worker: {replicas: 2, restartPolicy: ExitCode}}

    ## Passes

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: lora, namespace: team-a}
        spec:
          runPolicy: {backoffLimit: 4}
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 2, maxRestarts: 3}
          pytorchReplicaSpecs: {Worker: {replicas: 2, restartPolicy: OnFailure}}

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: lora, namespace: team-a}
        spec:
          elasticPolicy: {rdzvBackend: c10d, minReplicas: 1, maxReplicas: 2, maxRestarts: 3}
          pytorchReplicaSpecs: {Worker: {replicas: 2, restartPolicy: Never}}
    """
    spec = mapping(manifest.body, "spec")
    restarts = value_at(spec, "elasticPolicy", "maxRestarts")
    if not isinstance(restarts, int) or restarts < 1:
        return
    if value_at(spec, "runPolicy", "backoffLimit") is not None:
        return
    at = Route((manifest.id, "spec"))
    for role, replica in mapping(spec, _ROLES).items():
        policy = value_at(replica, "restartPolicy")
        if policy not in _RESTARTING:
            continue
        yield Finding(
            f"torchrun restarts job `{manifest.ref.name}` {numbered(restarts, 'time')} in each container, and "
            f"`restartPolicy` {policy} makes new containers without limit",
            at / _ROLES / role / "restartPolicy",
            label="no limit",
            help="write `runPolicy: {backoffLimit: 3}` and `maxRestarts: 0`: one of them restarts",
            also=((at / "elasticPolicy" / "maxRestarts", "begins again in each container"),),
        )
        return


_RESTARTING = ("OnFailure", "Always", "ExitCode")
