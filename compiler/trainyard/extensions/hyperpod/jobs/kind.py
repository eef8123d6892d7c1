"""The kinds of jobs of HyperPod, and PyTorchJob on it, whose jobs it resumes when it has replaced a node.

A failure has one owner. The training operator restarts a pod whose program failed, so often as ``backoffLimit`` says;
HyperPod restarts the job when it takes a node away, so often as ``job-max-retry-count`` says. torchrun itself restarts
nothing on accelerators. Source: SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-auto-resume;
aws/sagemaker-hyperpod-cli 011ca92, helm_chart/readme.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trainyard.core.jobs.retrying import job_retries
from trainyard.eks.jobs.kinds import kinds_of_eks
from trainyard.eks.jobs.kinds.pytorch_job import PyTorchJob
from trainyard.extensions.hyperpod.governance.names import namespace_of
from trainyard.extensions.hyperpod.jobs.kinds.hyperpod_pytorch_job import KIND as OPERATED
from trainyard.extensions.hyperpod.jobs.resuming import AUTO_RESUME, MOST_RETRIES, resumes_in
from trainyard.extensions.hyperpod.settings.spec import HyperPodSection

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job, Kind
    from trainyard.language.places import Route
    from trainyard.plan.context import Context

_SOURCE = "SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-auto-resume"


def _place_of_namespace(job: Job) -> Route:
    """Where the namespace of a job is written: at the job, or at its queue; the job where it is nowhere."""
    if job.spec.namespace is not None:
        return job.at / "namespace"
    namespaces = job.queue.namespaces
    if job.queue.implicit or job.namespace not in namespaces:
        return job.at
    return job.queue.at / "namespaces" / namespaces.index(job.namespace)


def _replaces_nodes(context: Context) -> bool:
    return HyperPodSection.of(context.spec).own.node_recovery == "Automatic"


def _check_namespace(context: Context, job: Job) -> None:
    if not job_retries(job) or resumes_in(job.namespace):
        return
    context.fault(
        "RES321",
        f"job `{job.spec.name}` is in namespace `{job.namespace}`, in which HyperPod resumes no job",
        _place_of_namespace(job),
        f"{_resumed_place(job)}; or write `retries: 0`",
        source=_SOURCE,
    )


def _resumed_place(job: Job) -> str:
    """What to write so that a job is in a namespace that its queue serves and HyperPod resumes jobs in."""
    queue = job.queue
    resumed = [name for name in queue.namespaces if resumes_in(name)]
    if resumed:
        return f"write `namespace: {resumed[0]}`"
    if queue.implicit:
        name = namespace_of("research")
        return (
            f"add `{{name: {name}}}` to `spec.namespaces`, and write `namespace: {name}` in the job"
        )
    name = namespace_of(queue.name)
    if job.spec.namespace is None:
        return f"write `{name}`"
    return f"add `{name}` to `namespaces` of queue `{queue.name}`, and write `namespace: {name}`"


class ResumedPyTorchJob(PyTorchJob):
    """A PyTorchJob that HyperPod starts again when it has replaced a node of it."""

    leaves_broken_nodes = True

    def annotations(self, job: Job) -> Mapping[str, str]:
        retries = job_retries(job)
        if not retries:
            return {}
        return {AUTO_RESUME: "true", MOST_RETRIES: str(retries)}

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        if _replaces_nodes(context):
            _check_namespace(context, job)
        elif job.spec.retries:
            context.fault(
                "RES458",
                f"HyperPod replaces no node (`nodeRecovery: None`), and never starts job `{job.spec.name}` again",
                job.at / "retries",
                "remove `nodeRecovery`, or write `retries: 0`",
                source=_SOURCE,
            )

    def explain(self, context: Context, job: Job) -> None:
        super().explain(context, job)
        retries = job_retries(job)
        if retries and _replaces_nodes(context):
            context.derive(
                job.target,
                "autoResume",
                f"on, {retries} times",
                "HyperPod starts the job again when it has replaced a node; the job resumes from its checkpoint",
                _SOURCE,
            )


RESUMED = ResumedPyTorchJob()


def kinds() -> Mapping[str, Kind]:
    """What runs a job: first the kind that HyperPod resumes, then the others of EKS, and its own operator's."""
    others = {name: kind for name, kind in kinds_of_eks().items() if name != RESUMED.name}
    return {RESUMED.name: RESUMED, **others, OPERATED.name: OPERATED}
