from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.platforms.eks.jobs.plan import Runtime
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("RUN008", aliases=("no-restart",), severity=Severity.WARNING)
def failure_policy_missing(runtime: Runtime, world: World) -> Iterator[Finding]:
    """A runtime for several nodes has no failure policy.

    Without `failurePolicy.maxRestarts` a JobSet fails at its first failure (jobset 0.12.0): the loss of one node
    ends the training until somebody looks.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {failurePolicy: null}}}

    ## Passes

        jobs: [{name: llama}]
    """
    gang = any(work.gang for work in world.works_of(runtime))
    if gang and runtime.max_restarts is None:
        yield Finding(
            f"runtime `{runtime.name}` has no failure policy",
            runtime.where("max_restarts"),
            label="one lost node ends the job",
            help="write `failurePolicy: {maxRestarts: 10}`",
            spec_help="remove `runtime` from the job: one that is derived has it",
        )
