from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.core.pods.plan import Container
from trainyard.eks.third_party_workloads.plan import is_job
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed


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
    if source.requests == source.limits:
        return
    unlike = [
        name
        for name, limit in source.limits.items()
        if source.requests.get(name, limit) != limit
        and (_is_of_training(work) or name not in _PLAIN)
    ]
    # LIM013 reports a /dev/shm without a bound.
    if work.complete and _is_of_accelerators(work) and not work.boundless_memory:
        unlike += [
            name
            for name in ("cpu", "memory")
            if name in source.requests and name not in source.limits
        ]
    if unlike:
        place = (work if work.requests else source).where("requests")
        if len(unlike) == 1:
            place /= unlike[0]
        refused = not set(unlike) <= set(_PLAIN)
        yield Finding(
            f"{work.title} requests {_differences(source, unlike)}",
            place,
            help=f"make requests and limits of {listed(unlike, ' and ')} the same",
            severity=Severity.ERROR if refused else None,
        )


def _differences(source: Container | Work, unlike: Sequence[str]) -> str:
    limited = [
        f"{source.requests[name]} of `{name}` and is limited to {source.limits[name]}"
        for name in unlike
        if name in source.limits
    ]
    boundless = [
        f"{source.requests[name]} of `{name}`" for name in unlike if name not in source.limits
    ]
    if boundless:
        limited.append(f"{' and '.join(boundless)} without a limit")
    return " and ".join(limited)


_PLAIN = ("cpu", "memory", "ephemeral-storage")


def _is_of_accelerators(work: Work) -> bool:
    return work.accelerator is not None and (work.runtime is not None or is_job(work.kind))


def _is_of_training(work: Work) -> bool:
    """Whether one pod that is evicted stops others: of third-party kinds these are jobs that ask for devices."""
    return work.runtime is not None or _is_of_accelerators(work)
