from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.kinds import is_restarted_by_operator
from compiler.platforms.eks.jobs.plan import Runtime
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("RUN007", aliases=("pods-restart-singly",), severity=Severity.WARNING)
def pods_restart_individually(runtime: Runtime, world: World) -> Iterator[Finding]:
    """Pods of a job of several nodes restart one by one.

    The other ranks wait in a collective for the one that restarted, until NCCL's timeout or for ever. With
    `backoffLimit` 0 and `restartPolicy` Never each failure goes to JobSet, which creates all pods again (jobset 0.12.0
    failurePolicy; the Job's default is 6 retries, JobSet's default policy OnFailure). `InPlaceRestart` needs them to.
    The operators of PyTorchJob and MPIJob restart pods in no other way (training-operator v1.9.4, mpi-operator v0.8.2);
    that of a RayJob recreates a lost worker, and Ray Train starts its ranks again on all (kuberay v1.6.2).

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {backoffLimit: 6}}}]}}}

    ## Passes

        jobs: [{name: llama}]
    """
    job = runtime.trainer()
    meant = runtime.restart_strategy == "InPlaceRestart" or is_restarted_by_operator(runtime.kind)
    if job is None or meant or not any(work.gang for work in world.works_of(runtime)):
        return
    if job.backoff_limit != 0:
        given = f"`backoffLimit` {job.backoff_limit}"
        if job.backoff_limit is None:
            given = "no `backoffLimit`, which is 6"
        yield Finding(
            f"job `{job.name}` of runtime `{runtime.name}` has {given}",
            job.where("backoff_limit"),
            label="pods restart individually",
            help="write `backoffLimit: 0`",
            spec_help="remove `runtime` from the job: one that is derived has it",
        )
    elif job.pod.restart_policy != "Never":
        policy = job.pod.restart_policy or "OnFailure, by default"
        yield Finding(
            f"pods of runtime `{runtime.name}` restart in place: `restartPolicy` {policy}",
            job.pod.where("restart_policy"),
            label="pods restart individually",
            help="write `restartPolicy: Never`",
        )
