from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import Pool, titles
from trainyard.eks.kueue.plan import Flavor
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.choices import conflicts_with_flavor, describes_nodes, find_choices
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import NODEPOOL_LABEL


@rule(
    "PLC005", kubernetes="a batch job names a partition (SLM001), and no label of nodes", pods=True
)
def selector_matches_no_pool(work: Work, world: World) -> Iterator[Finding]:
    """The node selector of a job matches no node of the pool that it names.

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
    if work.pools or not work.selector:
        return
    if not describes_nodes(world):
        return
    pools = _reached(work, world)
    for key, wanted in work.selector.items():
        if conflicts_with_flavor(work, world, key):
            continue
        if _flavor_is_lost(work, world, key):
            continue
        labels = (world.has_label(pool, key, wanted) for pool in pools)
        if pools and all(has is False for has in labels):
            names = listed(titles(pools)[:3])
            known: dict[str, None] = {}
            for pool in pools:
                own = (pool.name,) if key == NODEPOOL_LABEL else pool.values(key)
                known.update(dict.fromkeys(own or ()))
            values = listed(known, " or ")
            spec_help = ""
            if key == NODEPOOL_LABEL:
                spec_help = (
                    f"keep a pool `{wanted}` in this commit: the run that was submitted names it until it ends; "
                    "`rerun` asks for one on another pool"
                )
            yield Finding(
                f"{work.title} selects `{key}: {wanted}`, which no node of pool {names} has",
                work.where_selected(key),
                label="its pods stay Pending",
                help=f"write {values}" if known else "add the label to the pool",
                spec_help=spec_help,
            )


def _flavor_is_lost(work: Work, world: World, key: str) -> bool:
    """Whether a flavor of the job's queue requires the label and no pool has it: that is reported for the flavor."""
    if work.queue:
        queued = work.queue.flavors()
    else:
        queued = ()
    flavors = [world.plan.named(Flavor, quotas.flavor) for quotas in queued]
    return any(
        flavor is not None
        and flavor.node_labels.get(key) == work.selector[key]
        and not world.pools_of(flavor)
        for flavor in flavors
    )


def _reached(work: Work, world: World) -> tuple[Pool, ...]:
    """The pools that the job would land on without its node selector: the one that it names, or its queue's."""
    named = world.plan.named(NodePool, work.selector.get(NODEPOOL_LABEL))
    if named is not None:
        return (named,)
    choices = find_choices(world, {}, work.queue, work.asks, None)
    pools: dict[str, Pool] = {}
    for choice in choices:
        pools.update({pool.name: pool for pool in choice.pools})
    return tuple(pools.values())
