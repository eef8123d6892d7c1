from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import NEURON
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.output.manifest import placeholder


@rule("RUN012", aliases=("processes-on-neuron",))
def neuron_process_count_unset(work: Work) -> Iterator[Finding]:
    """A job on Neuron devices leaves the number of processes to Trainer.

    Trainer counts GPUs by the resource name; it does not know `aws.amazon.com/neuron`, and `PET_NPROC_PER_NODE`
    becomes the number of CPUs (trainer v2.3.0, torch plugin).

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: neuron, namespace: trainium}
        spec:
          runtimeRef: {name: elsewhere}
          trainer: {numNodes: 2, resourcesPerNode: {limits: {aws.amazon.com/neuron: 16}}}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: neuron, namespace: trainium}
        spec:
          runtimeRef: {name: elsewhere}
          trainer: {numNodes: 2, numProcPerNode: 32, resourcesPerNode: {limits: {aws.amazon.com/neuron: 16}}}
    """
    processes = work.processes
    if NEURON not in work.asks or not work.trainer:
        return
    if isinstance(processes, int):
        return
    if work.framework == "jax":
        return  # one process a node, whatever is said
    if not processes or not placeholder(processes):
        yield Finding(
            f"job `{work.name}` asks for Neuron devices and does not say `numProcPerNode`",
            work.where("processes"),
            label="one process a CPU",
            help="write one process for each Neuron core",
        )
