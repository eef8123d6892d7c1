from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule(
    "RUN003", kubernetes="`managedBy` is of a TrainJob", aliases=("managed-elsewhere",), gangs=True
)
def managed_by_multikueue(work: Work, world: World) -> Iterator[Finding]:
    """A job is managed by MultiKueue.

    Observed with Trainer 2.3.0: with `managedBy: kueue.x-k8s.io/multikueue` nothing is created in this cluster.
    Whether another cluster takes the job cannot be seen in an open set of files, where this is a warning.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {managedBy: kueue.x-k8s.io/multikueue}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {managedBy: trainer.kubeflow.org/trainjob-controller}
    """
    if work.managed_by == "kueue.x-k8s.io/multikueue":
        yield Finding(
            f"job `{work.name}` is managed by MultiKueue",
            work.where("managed_by"),
            label="nothing is created in this cluster",
            help="remove `managedBy`",
            severity=None if world.plan.closed else Severity.WARNING,
        )
