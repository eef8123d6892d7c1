from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog.near import near
from compiler.plan.nodes import NODEPOOL_LABEL
from compiler.plan.queues import Flavor
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("QUE002")
def flavor_matches_no_pool(flavor: Flavor, world: World) -> Iterator[Finding]:
    """A flavor selects nodes by a label that no pool sets.

    Kueue adds the labels of the flavor to the node selector of each job that it admits there (kueue v0.19.2,
    ResourceFlavor): the pods stay Pending while they hold quota.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        spec: {nodeLabels: {karpenter.sh/nodepool: a100}}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        spec: {nodeLabels: {karpenter.sh/nodepool: gpu}}
    """
    pools, cluster = world.plan.node_pools, world.plan.cluster
    if not pools or not flavor.node_labels or world.pools_of(flavor):
        return
    groups = cluster.node_groups if cluster else ()
    if any(each.labels.get(key) == wanted for each in groups for key, wanted in flavor.node_labels.items()):
        return
    for key, wanted in flavor.node_labels.items():
        if not any(world.has_label(each, key, wanted) is not False for each in pools):
            names = [each.name for each in pools]
            close = near(wanted, names) if key == NODEPOOL_LABEL else []
            yield Finding(
                f"flavor `{flavor.name}` selects `{key}: {wanted}`, which no pool has", flavor.where("node_labels"),
                label="its pods stay Pending",
                help=f"did you mean `{close[0]}`?" if close else f"the pools are {', '.join(f'`{n}`' for n in names)}"
                if key == NODEPOOL_LABEL else "add the label to a pool, or select by one that it has",
            )
            return
    yield Finding(f"no pool has all labels of flavor `{flavor.name}`", flavor.where("node_labels"),
                  label="its pods stay Pending", help="select by `karpenter.sh/nodepool`")
