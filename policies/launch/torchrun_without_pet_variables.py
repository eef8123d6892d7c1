from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import launches, named_options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN022", kubernetes="the variables are of Trainer", aliases=("torchrun-without-variables",))
def torchrun_without_pet_variables(work: Work) -> Iterator[Finding]:
    """torchrun runs on several nodes with a runtime that sets no `PET_*` variables.

    Observed with Trainer 2.3.0: a runtime without an ML policy sets no `PET_*` variable, and drops `numProcPerNode`
    without a message. Each node is then a run of its own.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {mlPolicy: {torch: null}}

    ## Passes

        jobs: [{name: llama}]
    """
    if work.runtime is None or work.runtime.framework is not None:
        return
    if not work.gang or not launches(work.words):
        return
    given = named_options(work.words)
    if not given.get("nnodes") and "PET_NNODES" not in work.env:
        yield Finding(
            f"runtime `{work.runtime.name}` gives torchrun of job `{work.name}` no `PET_*` variables",
            work.runtime.where("framework"),
            label="each node runs by itself",
            help="write `mlPolicy: {torch: {}}`",
        )
