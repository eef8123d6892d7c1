"""kubeflow.org/v1 PyTorchJob, which the training operator runs (v1.9.4).

It knows no gang: the operator recreates only the pod that failed. torchrun's rendezvous brings the others
back, since they fail as well or are told by the store (pkg/controller.v1/common/pod.go; docs/kinds.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.core.jobs.retrying import job_retries
from trainyard.core.pods.plan import Pod, ReplicatedJob
from trainyard.eks.jobs.bodies import Written, replica_bodies, run_policy_body
from trainyard.eks.jobs.kind import TRAINER, Ending, OwnPods, program_part, renamed
from trainyard.eks.jobs.lifting import (
    JobFields,
    Part,
    count_or_text,
    job_and_pods,
    own_runtime,
    replica_count,
    replica_parts,
    replicas,
    run_policy,
    settings_of,
)
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.eks.jobs.run_pods import OF_PYTORCH_JOB
from trainyard.lift.reader import Reader
from trainyard.output.lowering.body import fields_given
from trainyard.plan.base import PlanItem

if TYPE_CHECKING:
    from trainyard.core.jobs.job import Job
    from trainyard.plan.context import Context

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

    name = kind = "PyTorchJob"
    place = 1
    api = "kubeflow.org/v1"
    plural = "pytorchjobs"
    crd = "training-operator/v1.9.4"
    framework = "kubeflow.org/pytorchjob"
    operator = "training-operator"
    pods = (("spec", "pytorchReplicaSpecs", "{}", "template", "spec"),)
    name_limit = None
    name_syntax = "dns-subdomain"
    has_peers = True
    restarts_gang = False
    # training-operator v1.9.4, PyTorchJobDefaultContainerName: its webhook refuses any other.
    main = "pytorch"
    launchers = ("torch",)
    run_pods = OF_PYTORCH_JOB
    ends = Ending(("Succeeded",))  # kubeflow.org/v1, JobConditionType
    retries = ("spec", "runPolicy", "backoffLimit")
    # training-operator v1.9.4, pkg/core/job.go PastBackoffLimit: the restarts of all containers.
    counts_pods = True
    restarted = "single pods, as often as `backoffLimit` counts"
    retried = "how often each pod is restarted; the others join it"

    places = {
        ("nprocPerNode",): "processes",
        ("runPolicy", "backoffLimit"): "max_restarts",
        ("runPolicy", "activeDeadlineSeconds"): "deadline",
        ("pytorchReplicaSpecs", "Worker", "replicas"): "nodes",
    }

    def host(self, job: Job, name: str) -> str:
        """The name of the first pod, which is its host name too, and that of the Service before it."""
        return f"{name}-master-0"

    def runtime(self, context: Context, job: Job, runtime: Runtime) -> Runtime:
        """The pod of the runtime, once for each role."""
        node = program_part(runtime)
        pod = renamed(node.pod, self.main)
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
            main=self.main,
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
            "the training operator runs it, without a runtime",
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

    def written(self, job: TrainJob, runtime: Runtime) -> Written:
        spec = fields_given(
            nprocPerNode=None if job.processes is None else str(job.processes),
            runPolicy=run_policy_body(job, runtime),
        )
        return replica_bodies("pytorchReplicaSpecs", spec, runtime)

    def lift(self, body: Reader) -> Iterator[PlanItem]:
        spec = body / "spec"
        policy = run_policy(body)
        parts = replicas(spec / "pytorchReplicaSpecs")
        settings = settings_of(policy, "cleanPodPolicy")
        fields = JobFields(
            deadline=policy / "activeDeadlineSeconds",
            max_restarts=policy / "backoffLimit",
            nodes=spec.follow("pytorchReplicaSpecs", WORKER, "replicas") or None,
            processes=spec / "nprocPerNode",
        )
        yield from job_and_pods(
            body,
            own_runtime(body, self.name, self.main, parts, framework="torch", settings=settings),
            fields,
            nodes=replica_count(parts),
            processes=count_or_text((spec / "nprocPerNode").text()),
        )

    def parts(self, body: Reader) -> Iterator[Part]:
        return replica_parts(body)


KIND = PyTorchJob()
