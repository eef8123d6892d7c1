from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule(
    "LIM005",
    kubernetes="the kubelet evicts pods without requests first, and Slurm gives a job its nodes",
    aliases=("cpu-or-memory-missing",),
    severity=Severity.WARNING,
    pods=True,
)
def cpu_or_memory_request_missing(work: Work) -> Iterator[Finding]:
    """A job asks for devices, and not for CPU and memory.

    Devices do not count for QoS: without CPU and memory the pod is BestEffort, the first to be evicted (Kubernetes,
    pod QoS), and several such pods share a node that can hold one.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          trainer: {resourcesPerNode: {limits: {cpu: null, memory: null}, requests: {cpu: null, memory: null}}}

    ## Passes

        jobs: [{name: llama}]
    """
    if not work.knows_names or not work.is_accelerated:
        return
    asked = {*work.asks, *work.unread_amounts}
    lacking = [name for name in ("cpu", "memory") if name not in asked]
    missing = [f"no `{name}`" for name in lacking]
    if missing:
        yield Finding(
            f"{work.title} asks for {' and '.join(missing)}",
            work.where("limits"),
            label="the first to be evicted",
            help="ask for what a node has, minus the system's share",
        )
