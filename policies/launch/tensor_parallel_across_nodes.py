from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import TrainingState
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("RUN050", severity=Severity.WARNING)
def tensor_parallel_across_nodes(state: TrainingState) -> Iterator[Finding]:
    """The ranks that divide a layer are on several nodes.

    Each layer waits for an all-reduce among them, forward and backward: over NVLink inside a node, far slower
    between nodes ("tensor model parallelism should generally be used up to degree g when using g-GPU servers",
    arXiv:2104.04473, section 5, takeaway 1).

    ## Fails

        jobs: [{name: llama, model: {parameters: 70e9, sharding: full, parallel: {tensor: 16}}}]

    ## Passes

        jobs: [{name: llama, model: {parameters: 8.03e9, parallel: {tensor: 8, pipeline: 4}}}]
    """
    if state.tensor > state.processes:
        yield Finding(
            f"job `{state.name}` divides each layer among {state.tensor} ranks, and a node has {state.processes}",
            state.where("tensor"),
            label="every layer waits for the network",
            help=f"write at most `tensor: {state.processes}`, and `pipeline` for the rest",
        )
