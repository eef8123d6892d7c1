from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN006", kubernetes="`trainer` is of a TrainJob", aliases=("trainer-absent",))
def trainer_missing(work: Work) -> Iterator[Finding]:
    """A job of several nodes has no `trainer`.

    Observed with Trainer 2.3.0: without `spec.trainer` no `PET_*` variable is set, so each node is a run of its
    own, and removing `trainer` from a suspended job leaves its JobSet suspended for ever.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: null}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {mlPolicy: {numNodes: 4}}

    ## Passes

        jobs: [{name: llama}]
    """
    torch = work.runtime is not None and work.runtime.framework == "torch"
    if torch and work.gang and not work.trainer:
        yield Finding(
            f"job `{work.name}` has {work.nodes} nodes and no `trainer`",
            work.where("trainer"),
            label="no PET_* variables: each node runs by itself",
            help="write `trainer:` with `numNodes`",
        )
