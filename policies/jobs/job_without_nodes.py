from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN002", aliases=("no-nodes",))
def job_without_nodes(work: Work) -> Iterator[Finding]:
    """A job has no nodes.

    Observed with Trainer 2.3.0: `numNodes: 0` is accepted, creates no pod, and the TrainJob is Complete at once.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {numNodes: 0}}

    ## Passes

        jobs: [{name: llama, nodes: 1}]
    """
    if work.nodes == 0:
        yield Finding(
            f"job `{work.name}` has 0 nodes",
            work.where("nodes"),
            label="Complete at once, without a pod",
            help="write how many nodes it needs",
        )
