from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import NODEPOOL_LABEL
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("PLC005")
def selector_matches_no_pool(work: Work, world: World) -> Iterator[Finding]:
    """The pods of a job select nodes that the pool they name cannot have.

    A pod lands only on nodes with every label of its `nodeSelector` (Kubernetes, assigning pods to nodes): a zone
    or a type that the pool does not allow leaves the pods Pending for ever.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          runtimePatches:
            - trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
                {name: node, template: {spec: {template: {spec: {
                  nodeSelector: {topology.kubernetes.io/zone: us-west-2a}}}}}}]}}}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          runtimePatches:
            - trainingRuntimeSpec: {template: {spec: {replicatedJobs: [
                {name: node, template: {spec: {template: {spec: {
                  nodeSelector: {topology.kubernetes.io/zone: us-west-2b}}}}}}]}}}
    """
    if work.pod is None or work.pools:
        return
    selector = work.pod.node_selector
    pool = world.plan.node_pool(selector.get(NODEPOOL_LABEL))
    if pool is None:
        return
    for key, wanted in selector.items():
        if world.has_label(pool, key, wanted) is False:
            has = pool.values(key)
            at = next((each.pod.where("node_selector") for each in work.job.patches if key in each.pod.node_selector),
                      work.pod.where("node_selector"))
            yield Finding(
                f"job `{work.name}` selects `{key}: {wanted}`, which no node of pool `{pool.name}` has", at,
                label="its pods stay Pending",
                help=f"the pool has {', '.join(f'`{each}`' for each in has)}" if has else "add the label to the pool",
            )
