from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.model.values import value
from compiler.places import Route
from compiler.policy.rule import Finding, rule


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
    after = value(manifest.body, "spec", "template", "spec", "ttlSecondsAfterFinished")
    if isinstance(after, int):
        yield Finding(
            f"runtime `{manifest.ref.name}` deletes jobs {after} s after their end",
            Route((manifest.id, "spec", "template", "spec", "ttlSecondsAfterFinished")),
            help="remove `ttlSecondsAfterFinished`",
            key=True,
        )
