from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule(
    "RUN017",
    severity=Severity.WARNING,
    kinds=("trainer.kubeflow.org/ClusterTrainingRuntime", "trainer.kubeflow.org/TrainingRuntime"),
)
def runtime_deletes_runs(manifest: Manifest) -> Iterator[Finding]:
    """A runtime deletes pods and logs of finished jobs.

    Observed with Trainer 2.3.0: with `ttlSecondsAfterFinished` the JobSet and its pods are deleted, the TrainJob
    stays Complete and never runs again, also when it is applied again; logs of a failure are gone before somebody
    reads them.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {ttlSecondsAfterFinished: 600}}}

    ## Passes

        jobs: [{name: llama}]
    """
    after = value_at(manifest.body, "spec", "template", "spec", "ttlSecondsAfterFinished")
    if isinstance(after, int):
        yield Finding(
            f"runtime `{manifest.ref.name}` deletes jobs {after} s after their end",
            Route((manifest.id, "spec", "template", "spec", "ttlSecondsAfterFinished")),
            help="remove `ttlSecondsAfterFinished`",
            key=True,
        )
