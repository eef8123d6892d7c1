from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.choices import conflicts_with_flavor, describes_nodes, groups_of
from trainyard.judge.model.fit import excluding_namespace_label
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.output.manifest import placeholder


@rule("QUE019", kubernetes="flavors are of Kueue", pods=True)
def selector_excludes_flavors(work: Work, world: World) -> Iterator[Finding]:
    """The node selector of a job excludes every flavor of its queue.

    Kueue holds the node selector of the pods against the `nodeLabels` of a flavor, for the label keys that the
    flavors of the resource group have (kueue v0.19.2, flavorassigner: "flavor … doesn't match node affinity"): with
    no flavor left the job is never admitted.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          nodeSelector: {karpenter.sh/nodepool: spare}}}}}}]}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: spare}

    ## Passes

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          nodeSelector: {karpenter.sh/nodepool: gpu}}}}}}]}}}
    """
    queue = work.queue
    if queue is None or excluding_namespace_label(work, world):
        return  # QUE008 reports the latter
    selector = {key: wanted for key, wanted in work.selector.items() if not placeholder(wanted)}
    for group in groups_of(queue, work.asks) if selector else ():
        names = [quotas.flavor for quotas in group.flavors]
        named = [world.plan.named(Flavor, name) for name in names]
        flavors = [flavor for flavor in named if flavor is not None]
        keys: set[str] = set()
        for flavor in flavors:
            keys.update(flavor.node_labels)
        keys &= set(selector)
        if not keys or len(flavors) < len(group.flavors):
            continue
        if not all(conflicts_with_flavor(work, world, key) for key in keys):
            continue
        if _without_pools(flavors, world):
            continue  # QUE002 reports the flavors
        unlike = [_unlike(flavor, selector, keys) for flavor in flavors]
        if all(unlike):
            key = min(set().union(*unlike))
            values = []
            for flavor in flavors:
                text = flavor.node_labels.get(key, "none")
                values.append(f"`{flavor.name}` has `{text}`")
            has = ", ".join(values)
            yield Finding(
                f"{work.title} selects `{key}: {selector[key]}`, and none of queue `{queue.name}` does: {has}",
                work.where_selected(key),
                label="the job is never admitted",
                help=f"leave `{key}` to the flavor, or send the job to another queue",
            )
            return


def _without_pools(flavors: list[Flavor], world: World) -> bool:
    """Whether flavors lack pools: one of them in a whole set, or all of them in a part of one."""
    reached = [bool(world.pools_of(flavor)) for flavor in flavors]
    if describes_nodes(world):
        enough = all(reached)
    else:
        enough = any(reached)
    return bool(world.pools) and not enough


def _unlike(flavor: Flavor, selector: dict[str, str], keys: set[str]) -> set[str]:
    """The labels, of some keys, for which a flavor has another value than a node selector."""
    labels = flavor.node_labels
    return {key for key in keys if labels.get(key) != selector[key]}
