from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import Stage
from trainyard.eks.jobs.plan import TrainJob
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("RUN014", aliases=("stage-prunes-jobs",))
def flux_prunes_jobs(stage: Stage, world: World) -> Iterator[Finding]:
    """Flux deletes running jobs when their file leaves git.

    A Kustomization with `prune: true` deletes what it no longer finds (Flux kustomize-controller 1.9): renaming a
    folder or reverting a commit stops a run of weeks. The annotation `kustomize.toolkit.fluxcd.io/prune: disabled`
    on the job keeps it. In third-party manifests, where that may be intended, it is a warning.

    ## Fails

        # a whole cluster
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: enabled}}

    ## Passes

        jobs: [{name: llama}]
    """
    jobs = [job for job in world.plan.of(TrainJob) if job.prune]
    exposed = next((job for job in jobs if _carries(stage, job, world)), None)
    if not stage.prune or exposed is None:
        return
    yield Finding(
        f"stage `{stage.name}` prunes, and job `{exposed.identity.name}` does not say `prune: disabled`",
        exposed.at,
        label="leaving git stops the run",
        help="annotate the job with `kustomize.toolkit.fluxcd.io/prune: disabled`",
        severity=None if world.plan.closed else Severity.WARNING,
    )


def _carries(stage: Stage, job: TrainJob, world: World) -> bool:
    """Of several stages only one that is certainly over the job's folder."""
    if job.at and world.paths.get(str(job.at[0])):
        return world.carries(stage.path, job.at)
    is_only = len(world.plan.of(Stage)) == 1
    return is_only or stage.path.rstrip("/").endswith("jobs")
