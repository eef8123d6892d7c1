from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule(
    "LIM013",
    gangs=True,
    roles=True,
    kubernetes="a program of Slurm has the `/dev/shm` of its node",
    aliases=("shm-without-bound",),
    severity=Severity.WARNING,
)
def shared_memory_unbounded(work: Work) -> Iterator[Finding]:
    """Nothing bounds the /dev/shm of a job.

    A volume of `medium: Memory` without `sizeLimit` may take what the pod's memory limit allows, and without that
    limit all the memory that the node has for pods (Kubernetes, emptyDir): the node then evicts pods.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: null}}]}}}}}]}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {resourcesPerNode: {limits: {memory: null}}}}

    ## Passes

        jobs: [{name: llama}]
    """
    volume = work.shared_memory
    if work.pod is not None and volume is not None and work.boundless_memory:
        yield Finding(
            f"/dev/shm of {work.title} has no `sizeLimit`, and its pods no memory limit",
            work.pod.place(volume) / "emptyDir",
            help="write `sizeLimit: 64Gi`, or a memory limit",
        )
