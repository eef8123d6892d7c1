"""kubeflow.org/v1 PyTorchJob, which the training operator runs (v1.9.4).

It knows no gang: the operator makes each pod anew that fails, and no other one. torchrun's rendezvous brings the others
back, since they fail as well or are told by the store (pkg/controller.v1/common/pod.go; docs/kinds.md).
"""

from __future__ import annotations

from dataclasses import replace

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.jobs.retrying import job_retries
from compiler.core.pods.plan import Pod, ReplicatedJob
from compiler.platforms.eks.runs.kinds.kind import TRAINER, OwnPods, program_part, renamed
from compiler.platforms.eks.runs.plan import JOB_KINDS, Runtime

MASTER, WORKER = "Master", "Worker"
_GROUP = "kueue.x-k8s.io/podset-group-name"
_PLACED = ("kueue.x-k8s.io/podset-required-topology", "kueue.x-k8s.io/podset-preferred-topology")
_SOURCE = "training-operator v1.9.4"


def grouped(pod: Pod, group: str) -> Pod:
    """A pod that Kueue places together with those of the job's other role (kueue v0.19.2, podset groups)."""
    if pod.annotations.keys().isdisjoint(_PLACED):
        return pod
    return replace(pod, annotations={**pod.annotations, _GROUP: group})


class PyTorchJob(OwnPods):
    """One master and, of several nodes, workers."""

    name = "PyTorchJob"
    launchers = ("torch",)
    retried = "each pod is restarted so often, and the others join it"

    def host(self, job: Job, name: str) -> str:
        """The name of the first pod, which is its host name too, and that of the Service before it."""
        return f"{name}-master-0"

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """The pod of the runtime, once for each role."""
        node = program_part(runtime)
        main = JOB_KINDS[self.name].main
        pod = renamed(node.pod, main)
        nodes = job.spec.nodes
        retries = job_retries(job)
        policy = "OnFailure" if retries else "Never"
        pod = replace(pod, restart_policy=policy)
        if nodes > 1:
            pod = grouped(pod, "nodes")
        roles = [ReplicatedJob(at=job.at, name=MASTER, step=TRAINER, pod=pod)]
        if nodes > 1:
            worker = ReplicatedJob(at=job.at, name=WORKER, step=None, pod=pod, replicas=nodes - 1)
            roles.append(worker)
        return replace(
            runtime,
            kind=self.name,
            jobs=tuple(roles),
            nodes=None,
            # As many restarts as the pods of that many gangs take.
            max_restarts=retries * nodes,
            restart_strategy=None,
            settings={"cleanPodPolicy": "Running"},
        )

    def explain(self, context: Context, job: Job) -> None:
        nodes = job.spec.nodes
        retries = job_retries(job)
        context.derive(
            job.target,
            "kind",
            self.name,
            f"apiGroup {job.spec.api_group}: the training operator runs it, without a runtime",
            f"{_SOURCE} manifests/base/crds/kubeflow.org_pytorchjobs.yaml",
        )
        policy = "OnFailure" if retries else "Never"
        context.derive(
            job.target,
            "restart",
            f"restartPolicy {policy}, backoffLimit {retries * nodes}",
            "the operator restarts single pods, and counts each: the others join them by torchrun's rendezvous",
            f"{_SOURCE} pkg/core/job.go PastBackoffLimit",
        )
        context.derive(
            job.target,
            "cleanPodPolicy",
            "Running",
            "the job ends with its master: what still runs would hold nodes that Kueue has given away",
            f"{_SOURCE} pkg/controller.v1/pytorch UpdateJobStatus",
        )


KIND = PyTorchJob()
