from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.diagnostics.diagnostic import listed
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule


@rule("LIM004", kubernetes="Slurm has one amount of each resource", severity=Severity.WARNING)
def limits_differ_from_requests(work: Work) -> Iterator[Finding]:
    """Requests and limits of a job differ.

    Without equal requests and limits for CPU and memory a pod is not Guaranteed and is evicted before others when
    its node runs short (Kubernetes, pod QoS); one lost rank stops all. For devices and huge pages the API server
    refuses different values.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {resourcesPerNode: {requests: {memory: 500Gi}}}}

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {resourcesPerNode: {limits: {cpu: null, memory: null}}}}

    ## Passes

        jobs: [{name: llama}]
    """
    source = work.main or work
    unlike = {
        name: (source.requests[name], f"is limited to {limit}")
        for name, limit in source.limits.items()
        if source.requests.get(name, limit) != limit
    }
    # LIM013 reports a /dev/shm without a bound.
    if work.complete and work.accelerator and not work.boundless_memory:
        unlike |= {
            name: (source.requests[name], "has no limit of it")
            for name in ("cpu", "memory")
            if name in source.requests and name not in source.limits
        }
    if unlike:
        differences = " and ".join(
            f"{request} of `{name}` and {limit}" for name, (request, limit) in unlike.items()
        )
        place = (work if work.requests else source).where("requests")
        if len(unlike) == 1:
            place /= next(iter(unlike))
        refused = not set(unlike) <= set(_PLAIN)
        yield Finding(
            f"job `{work.name}` requests {differences}",
            place,
            help=f"make requests and limits of {listed(unlike, ' and ')} the same",
            severity=Severity.ERROR if refused else None,
        )


_PLAIN = ("cpu", "memory", "ephemeral-storage")
