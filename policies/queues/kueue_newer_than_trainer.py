from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import version_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule(
    "RUN028",
    kubernetes="Kueue and Trainer are of Kubernetes",
    aliases=("queue-newer-than-trainer",),
)
def kueue_newer_than_trainer(work: Work, world: World) -> Iterator[Finding]:
    """A queued job is written for Trainer 2.1, and Kueue for a later version.

    Kueue writes node selectors and tolerations of an admitted job into `runtimePatches` from 0.17 on, before that into
    `podTemplateOverrides` (kueue v0.16.9 and v0.19.2, trainjob_controller.go). Trainer 2.1 drops the one, Trainer 2.2
    the other: either way the job does not run as it is written.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: kueue, namespace: flux-system}
        spec: {chart: {spec: {chart: kueue, version: 0.19.2}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {podTemplateOverrides: [{targetJobs: [{name: node}], spec: {serviceAccountName: training}}]}

    ## Passes

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: kueue, namespace: flux-system}
        spec: {chart: {spec: {chart: kueue, version: 0.16.9}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {podTemplateOverrides: [{targetJobs: [{name: node}], spec: {serviceAccountName: training}}]}
    """
    overrides = [patch for patch in work.patches if "manager" not in patch.origins]
    if not overrides or not work.queued:
        return
    newer = [
        release.version
        for release in world.releases("kueue")
        if version_key(release.version) >= (0, 17)
    ]
    if newer:
        yield Finding(
            f"job `{work.name}` has `podTemplateOverrides`, and Kueue {newer[0]} writes `runtimePatches`",
            overrides[0].at,
            label="it does not run as it is written",
            help="write `runtimePatches` for Trainer 2.2 and later, or keep Kueue 0.16 with Trainer 2.1",
        )
