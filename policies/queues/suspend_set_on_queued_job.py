from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule(
    "RUN001", kubernetes="`suspend` is of a TrainJob that Kueue admits", aliases=("suspend-in-git",)
)
def suspend_set_on_queued_job(work: Work) -> Iterator[Finding]:
    """A queued TrainJob sets `suspend`, which Kueue owns.

    Observed with Kueue 0.19.2 and Trainer 2.3.0: with `false` a pending job is unsuspended for a moment at every
    apply, pods start and are deleted; with `true` an admitted job is suspended and starts over at every apply.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {suspend: false}

    ## Passes

        jobs: [{name: llama}]
    """
    if work.suspend is not None and work.queued:
        given = str(work.suspend).lower()
        yield Finding(
            f"job `{work.name}` has a queue and says `suspend: {given}`",
            work.where("suspend"),
            label="it starts over at every apply",
            help="remove `suspend`: Kueue sets it",
            key=True,
        )
