from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.judge.model.command import launches, named_options
from trainyard.judge.model.fit import exceeds_node
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.units import count


@rule("RUN011", severity=Severity.WARNING, pods=True)
def processes_differ_from_devices(work: Work, world: World) -> Iterator[Finding]:
    """The number of processes a node differs from the number of GPUs.

    With fewer, GPUs stay idle; with more, two processes share one and NCCL refuses ("Duplicate GPU detected"). What a
    command does not say, torchrun takes from `PET_NPROC_PER_NODE`, and Trainer sets that to `numProcPerNode` whatever
    the command is (trainer v2.3.0, pkg/runtime/framework/plugins/torch).

    ## Fails

        jobs: [{name: llama, processesPerNode: 4}]

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {mlPolicy: {torch: {numProcPerNode: 1}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec: {trainer: {numProcPerNode: null}}

    ## Passes

        jobs: [{name: llama, processesPerNode: 8}]
    """
    if work.accelerator is None or not _torchrun(work):
        return
    if exceeds_node(work, world):
        return
    resource, gpus = work.accelerator
    given = named_options(work.words).get("nproc-per-node")
    in_env = work.env.get("PET_NPROC_PER_NODE")  # torchrun reads each option from PET_*
    said = given or in_env
    processes = count(said) if said else work.processes
    of_runtime = processes is None and _of_runtime(work) is not None
    if of_runtime:
        processes = _of_runtime(work)
    if resource != GPU or not isinstance(processes, int):
        return
    if processes == gpus:
        return
    node = min((instance.accelerators for instance in work.types), default=0)
    if work.gang and gpus < node == processes:
        return  # LIM008 reports the GPUs that the job leaves idle
    at = work.where("processes")
    key = f"`processesPerNode: {gpus}`"
    if of_runtime and work.runtime is not None:
        at = work.runtime.where("settings")
    if given:
        at = work.where_said("nproc-per-node")
        key = str(gpus)
    elif in_env:
        at = work.where_env("PET_NPROC_PER_NODE")
    yield Finding(
        f"job `{work.name}` starts {processes} processes a node and has {gpus} GPUs",
        at,
        help=f"write {gpus}, or remove it",
        spec_help=f"write {key}, or remove it",
    )


def _of_runtime(work: Work) -> int | str | bool | None:
    """The processes of each node that the runtime names for jobs that name none."""
    if work.runtime is None:
        return None
    return work.runtime.settings.get("numProcPerNode")


def _torchrun(work: Work) -> bool:
    """Whether torchrun starts the processes, or Trainer sets its variables."""
    torch = work.runtime is not None and work.runtime.framework == "torch"
    return (torch and work.trainer) or launches(work.words)
