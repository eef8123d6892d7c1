from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.command import launches
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

_NEVER_BY_DEFAULT = ("TFJob", "XGBoostJob", "JAXJob")
"""Kinds whose replicas do not restart unless they say so (training-operator v1.9.4, pkg/apis/kubeflow.org/v1)."""
_BACKOFF = 6
"""How many pods of a Job may fail where it does not say (batch/v1)."""


@rule(
    "RUN008",
    kubernetes="`requeue` of a batch job is another rule's",
    aliases=("no-restart",),
    severity=Severity.WARNING,
    gangs=True,
)
def failure_policy_missing(work: Work, world: World) -> Iterator[Finding]:
    """A job of several nodes ends with the first that is lost, since nothing says otherwise.

    Without `failurePolicy.maxRestarts` a JobSet fails at its first failure (jobset 0.12.0): the loss of one node
    ends the training until somebody looks. Replicas of a TFJob, XGBoostJob or JAXJob do not restart unless they say so
    (training-operator v1.9.4). An Indexed Job counts each pod that fails, 6 by default (batch/v1): one lost rank of
    torchrun takes all others with it.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {failurePolicy: null}}}

        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: bert, namespace: team-b}
        spec:
          replicatedJobs:
            - name: node
              template:
                spec:
                  backoffLimit: 0
                  completionMode: Indexed
                  completions: 2
                  parallelism: 2
                  template:
                    spec:
                      restartPolicy: Never
                      containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                        resources: {limits: {nvidia.com/gpu: 8}}}]

        apiVersion: kubeflow.org/v1
        kind: JAXJob
        metadata: {name: bert, namespace: team-b}
        spec: {jaxReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: jax,
          image: "public.ecr.aws/team/train:1.0", command: [python, train.py],
          resources: {limits: {nvidia.com/gpu: 8}}}]}}}}}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: bert, namespace: team-b}
        spec:
          completionMode: Indexed
          completions: 8
          parallelism: 8
          template: {spec: {restartPolicy: Never, containers: [{name: train, image: "public.ecr.aws/team/train:1.0",
            command: [torchrun, train.py], resources: {limits: {nvidia.com/gpu: 8}}}]}}

    ## Passes

        jobs: [{name: llama}]

        apiVersion: kubeflow.org/v1
        kind: JAXJob
        metadata: {name: bert, namespace: team-b}
        spec: {jaxReplicaSpecs: {Worker: {replicas: 2, restartPolicy: Never, template: {spec: {containers: [{name: jax,
          image: "public.ecr.aws/team/train:1.0", command: [python, train.py],
          resources: {limits: {nvidia.com/gpu: 8}}}]}}}}}

        # as the fourth that fails, but
        kind: Job
        spec: {backoffLimit: 80}
    """
    if not work.gang:
        return
    runtime, workload = work.own_runtime, world.workload_of(work)
    if runtime is not None and runtime.max_restarts is None:
        yield Finding(
            f"runtime `{runtime.name}` has no failure policy",
            runtime.where("max_restarts"),
            label="one lost node ends the job",
            help="write `failurePolicy: {maxRestarts: 10}`",
            spec_help="remove `runtime` from the job: one that is derived has it",
        )
    elif workload is not None and workload.kind == "JobSet" and workload.max_restarts is None:
        yield Finding(
            f"{work.title} has no failure policy",
            workload.where("max_restarts"),
            label="one lost node ends the job",
            help="write `failurePolicy: {maxRestarts: 10}`",
        )
    elif workload is not None and workload.kind == "Job":
        yield from _counted(work, workload)
    elif work.kind in _NEVER_BY_DEFAULT and work.pod is not None and not work.pod.restart_policy:
        yield Finding(
            f"pods of {work.title} have no `restartPolicy`, which is Never",
            work.pod.where("restart_policy"),
            label="one lost node ends the job",
            help="write `restartPolicy: ExitCode`, or OnFailure",
        )


def _counted(work: Work, workload: Workload) -> Iterator[Finding]:
    part = workload.part_of(work.pod)
    nodes = work.nodes or 0
    if part is None or part.backoff_limit is not None or nodes <= _BACKOFF:
        return
    if launches(work.words):
        yield Finding(
            f"{work.title} has no `backoffLimit`, which is {_BACKOFF}, and {nodes} pods that fail together",
            part.where("backoff_limit"),
            label="one lost node ends the job",
            help=f"write `backoffLimit: {nodes * 10}`; or run it as a JobSet, which recreates all pods",
        )
