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
    unlike = {name: (source.requests[name], limit) for name, limit in source.limits.items()
              if source.requests.get(name, limit) != limit}
    if not unlike and "memory" in source.requests and "memory" not in source.limits and not _unbounded(work):
        yield Finding(
            f"job `{work.name}` requests {source.requests['memory']} of `memory` and has no limit of it",
            (work.job if work.job.requests else source).where("requests") / "memory",
            help="write the same amounts of `cpu` and `memory` into `limits`",
        )
    if unlike:
        each = " and ".join(f"{request} of `{name}` and is limited to {limit}"
                            for name, (request, limit) in unlike.items())
        yield Finding(
            f"job `{work.name}` requests {each}", (work.job if work.job.requests else source).where("requests"),
            help=f"make requests and limits of {' and '.join(f'`{name}`' for name in unlike)} the same",
            severity=None if all(name in _PLAIN for name in unlike) else Severity.ERROR,
        )


def _unbounded(work: Work) -> bool:
    """Whether limits may stand elsewhere, or their absence is told of the /dev/shm that nothing bounds."""
    return not work.complete or work.pod is None or any(
        each.medium == "Memory" and each.size is None for each in work.pod.volumes)


_PLAIN = ("cpu", "memory", "ephemeral-storage")
