from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.diagnostics.diagnostic import listed
from compiler.model.work import Work
from compiler.platforms.eks.third_party_workloads.plan import is_job
from compiler.policy.rule import Finding, rule


@rule(
    "LIM004",
    kubernetes="Slurm has one amount of each resource",
    severity=Severity.WARNING,
    pods=True,
)
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
    if not _is_of_training(work):
        unlike = {name: both for name, both in unlike.items() if name not in _PLAIN}
    # LIM013 reports a /dev/shm without a bound.
    if work.complete and _is_of_accelerators(work) and not work.boundless_memory:
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
            f"{work.title} requests {differences}",
            place,
            help=f"make requests and limits of {listed(unlike, ' and ')} the same",
            severity=Severity.ERROR if refused else None,
        )


_PLAIN = ("cpu", "memory", "ephemeral-storage")


def _is_of_accelerators(work: Work) -> bool:
    return work.accelerator is not None and (work.runtime is not None or is_job(work.kind))


def _is_of_training(work: Work) -> bool:
    """Whether one pod that is evicted stops others: of third-party kinds these are jobs that ask for devices."""
    return work.runtime is not None or _is_of_accelerators(work)
