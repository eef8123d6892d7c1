from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.plan import TrainJob
from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@rule(
    "RUN021",
    aliases=("jobs-recreated-by-force",),
    kinds=("trainer.kubeflow.org/TrainJob", "kustomize.toolkit.fluxcd.io/Kustomization"),
)
def flux_force_recreates_jobs(manifest: Manifest, world: World) -> Iterator[Finding]:
    """Flux may delete a running job to change it.

    With `force` Flux deletes and recreates what it cannot change (Flux kustomize-controller 1.9); most of a
    TrainJob cannot be changed, so an edit in git kills the run and starts another.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {annotations: {kustomize.toolkit.fluxcd.io/force: enabled}}

    ## Passes

        jobs: [{name: llama}]
    """
    note = "kustomize.toolkit.fluxcd.io/force"
    if manifest.ref.kind == "TrainJob":
        path: tuple[str, ...] = ("metadata", "annotations", note)
        said = value_at(manifest.body, *path)
        forced = isinstance(said, str) and said.lower() == "enabled"
    else:
        path = ("spec", "force")
        folder = str(value_at(manifest.body, "spec", "path") or "")
        forced = value_at(manifest.body, *path) is True and any(
            world.carries(folder, job.at) for job in world.plan.of(TrainJob)
        )
    if forced:
        yield Finding(
            f"`{manifest.ref}` lets Flux delete running jobs",
            Route((manifest.id, *path)),
            label="an edit kills the run",
            help="remove it, and give a changed job another name",
            key=True,
        )
