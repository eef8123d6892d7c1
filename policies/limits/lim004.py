from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("LIM004", severity=Severity.WARNING)
def limits_differ_from_requests(work: Work) -> Iterator[Finding]:
    """What a job asks for and what it may use differ.

    Without equal requests and limits for CPU and memory a pod is not Guaranteed and is evicted before others when
    its node runs short (Kubernetes, pod QoS); one lost rank stops all. For devices and huge pages the API server
    refuses different values.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {resourcesPerNode: {requests: {memory: 500Gi}}}}

    ## Passes

        jobs: [{name: llama}]
    """
    source = work.main or work.job
    for resource, limit in source.limits.items():
        request = source.requests.get(resource, limit)
        if request != limit:
            plain = resource in ("cpu", "memory", "ephemeral-storage")
            yield Finding(
                f"job `{work.name}` requests {request} of `{resource}` and is limited to {limit}",
                work.where("requests"), help="make both the same",
                severity=None if plain else Severity.ERROR,
            )
