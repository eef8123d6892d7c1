from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Pod
from trainyard.eks.jobs.plan import Runtime
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.kinds import is_restarted_by_operator
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route

_IN_PLACE = "InPlaceRestart"


@rule(
    "RUN007",
    kubernetes="a batch job that loses a node ends as a whole",
    aliases=("pods-restart-singly",),
    severity=Severity.WARNING,
    gangs=True,
    roles=True,
)
def pods_restart_individually(work: Work, world: World) -> Iterator[Finding]:
    """Pods of a job of several nodes restart one by one.

    The other ranks wait in a collective for the one that restarted, until NCCL's timeout or for ever. With
    `backoffLimit` 0 and `restartPolicy` Never each failure goes to JobSet, which creates all pods again (jobset 0.12.0
    failurePolicy; the Job's default is 6 retries, JobSet's default policy OnFailure). `InPlaceRestart` needs them to.
    A group of a LeaderWorkerSet is recreated as a whole unless its `restartPolicy` is `None` (lws v0.10.0).
    The operators of PyTorchJob and MPIJob restart pods in no other way (training-operator v1.9.4, mpi-operator v0.8.2);
    that of a RayJob recreates a lost worker, and Ray Train starts its ranks again on all (kuberay v1.6.2).

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {backoffLimit: 6}}}]}}}

        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: bert, namespace: team-b}
        spec:
          failurePolicy: {maxRestarts: 3}
          replicatedJobs:
            - name: node
              template:
                spec:
                  completionMode: Indexed
                  completions: 2
                  parallelism: 2
                  template:
                    spec:
                      restartPolicy: Never
                      containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                        resources: {limits: {nvidia.com/gpu: 8}}}]

        apiVersion: leaderworkerset.x-k8s.io/v1
        kind: LeaderWorkerSet
        metadata: {name: bert, namespace: team-b}
        spec:
          leaderWorkerTemplate:
            size: 2
            restartPolicy: None
            workerTemplate: {spec: {containers: [{name: train, image: "public.ecr.aws/team/train:1.0",
              command: [torchrun, train.py], resources: {limits: {nvidia.com/gpu: 8}}}]}}

    ## Passes

        # as the second that fails, but
        kind: JobSet
        spec: {replicatedJobs: [{name: node, template: {spec: {backoffLimit: 0}}}]}

        jobs: [{name: llama}]
    """
    if not work.gang:
        return
    workload = world.workload_of(work)
    if work.own_runtime is not None:
        yield from _of_runtime(work.own_runtime)
    elif workload is not None and workload.kind == "JobSet":
        yield from _of_job_set(work, workload)
    elif (
        workload is not None and workload.kind == "LeaderWorkerSet" and workload.strategy == "None"
    ):
        yield Finding(
            f"pods of {work.title} restart one by one: `restartPolicy` None",
            workload.where("strategy"),
            label="pods restart individually",
            help="write `restartPolicy: RecreateGroupOnPodRestart`",
        )


def _of_runtime(runtime: Runtime) -> Iterator[Finding]:
    job = runtime.trainer()
    meant = runtime.restart_strategy == _IN_PLACE or is_restarted_by_operator(runtime.kind)
    if job is None or meant:
        return
    owner = f"runtime `{runtime.name}`"
    if job.backoff_limit != 0:
        yield _counting(
            f"job `{job.name}` of {owner}", job.backoff_limit, job.where("backoff_limit")
        )
    elif job.pod.restart_policy != "Never":
        yield _in_place(owner, job.pod)


def _of_job_set(work: Work, workload: Workload) -> Iterator[Finding]:
    part = workload.part_of(work.pod)
    if part is None or workload.strategy == _IN_PLACE or "backoff_limit" in part.unread:
        return
    if part.backoff_limit != 0:
        owner = f"job `{part.name}` of {work.title}"
        yield _counting(owner, part.backoff_limit, part.where("backoff_limit"))
    elif part.pod.restart_policy != "Never":
        yield _in_place(work.title, part.pod)


def _counting(owner: str, limit: int | None, at: Route) -> Finding:
    given = "no `backoffLimit`, which is 6" if limit is None else f"`backoffLimit` {limit}"
    return Finding(
        f"{owner} has {given}",
        at,
        label="pods restart individually",
        help="write `backoffLimit: 0`",
        spec_help="remove `runtime` from the job: one that is derived has it",
    )


def _in_place(owner: str, pod: Pod) -> Finding:
    policy = pod.restart_policy or "OnFailure, by default"
    return Finding(
        f"pods of {owner} restart in place: `restartPolicy` {policy}",
        pod.where("restart_policy"),
        label="pods restart individually",
        help="write `restartPolicy: Never`",
    )
