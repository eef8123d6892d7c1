from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN004", kubernetes="patches are of a TrainJob, and Kueue admits it")
def grace_period_in_patch(work: Work) -> Iterator[Finding]:
    """A queued job sets its grace period in a patch.

    Observed with Kueue 0.19.2 and Trainer 2.3.0: Kueue is built with Trainer 2.2.1, which lacks this field, and
    writes the patches back without it; the JobSet is immutable, so the job holds its quota and never starts.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          runtimePatches:
            - trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
                {name: node, template: {spec: {template: {spec: {terminationGracePeriodSeconds: 600}}}}}]}}}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [
          {name: node, template: {spec: {template: {spec: {terminationGracePeriodSeconds: 600}}}}}]}}}
    """
    for patch in work.patches if work.queued else ():
        if patch.pod.grace_seconds is not None:
            yield Finding(
                f"job `{work.name}` is queued and patches `terminationGracePeriodSeconds`",
                patch.pod.where("grace_seconds"),
                label="it is admitted and never starts",
                help="put the field into the runtime",
            )
