from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.flux.plan import Stage
from trainyard.eks.jobs.plan import Runtime
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN015", aliases=("runtime-pruned",))
def flux_prunes_runtime(runtime: Runtime, world: World) -> Iterator[Finding]:
    """Flux may delete a runtime that jobs refer to.

    Observed with Trainer 2.3.0: a runtime is deleted at once, jobs or not; from then on every apply of its jobs is
    refused, and a pending job is admitted, holds its quota and stays suspended.

    ## Fails

        # a whole cluster
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: enabled}}

    ## Passes

        jobs: [{name: llama}]
    """
    jobs = world.works_of(runtime)
    pruning = any(
        stage.prune and world.carries(stage.path, runtime.at) for stage in world.plan.of(Stage)
    )
    if runtime.prune and jobs and pruning:
        yield Finding(
            f"runtime `{runtime.name}` may be pruned while job `{jobs[0].name}` refers to it",
            runtime.at,
            label="every further apply of the job is refused",
            help="annotate the runtime with `kustomize.toolkit.fluxcd.io/prune: disabled`",
        )
