from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.eks.jobs.plan import Runtime
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("RUN016", severity=Severity.NOTE)
def runtime_not_versioned(runtime: Runtime, world: World) -> Iterator[Finding]:
    """The name of a runtime carries no version.

    Observed with Kueue 0.19.2 and Trainer 2.3.0: a runtime that is edited never reaches an existing job, but may
    restart it: Kueue compares the job with the runtime as it is now, deletes the workload and restarts the pods,
    with the old content. A new name for each content avoids that, as Trainyard's own have. Third-party manifests,
    whose owners may use other means, are not judged.

    ## Fails

        # a whole cluster
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: mine}
        spec: {mlPolicy: {numNodes: 1, torch: {}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata:
          name: other
          namespace: team-a
          labels: {kueue.x-k8s.io/queue-name: research}
          annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}
        spec: {runtimeRef: {name: mine}}

    ## Passes

        jobs: [{name: llama}]

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: mine}
        spec: {mlPolicy: {numNodes: 1, torch: {}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {name: llama, namespace: team-a}
        spec: {runtimeRef: {name: mine}}
    """
    if not world.plan.closed:
        return
    queued = any(work.queued for work in world.works_of(runtime))
    if queued and not re.search(_VERSION, runtime.name):
        yield Finding(
            f"the name of runtime `{runtime.name}` carries no version",
            runtime.at / "metadata" / "name",
            help=f"call it `{runtime.name}-1`, and create `-2` instead of editing it",
        )


_VERSION = r"-(?:v?\d[\w.]*|[0-9a-f]{5,})\Z"
