from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.diagnostics.near import near
from compiler.plan.nodes import NODEPOOL_LABEL, ZONE
from compiler.plan.queues import Flavor
from compiler.policy.choices import whole
from compiler.policy.fit import not_offered
from compiler.policy.offers import GroupPool
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
    if not flavor.node_labels or not whole(world) or world.pools_of(flavor):
        return
    rest = {key: wanted for key, wanted in flavor.node_labels.items() if key != ZONE}
    if (
        any(
            world.may_match(pool, rest) and not_offered(pool, world)
            for pool in world.pools
        )
        and rest
    ):
        return  # reported as a zone of the pool that does not have the type
    for key, wanted in flavor.node_labels.items():
        if not any(
            world.has_label(pool, key, wanted) is not False for pool in world.pools
        ):
            names = [
                pool.name
                for pool in world.pools
                if key != NODEPOOL_LABEL or not isinstance(pool, GroupPool)
            ]
            close = near(wanted, names) if key == NODEPOOL_LABEL else []
            pools = f"the pools are {listed(names)}"
            yield Finding(
                f"flavor `{flavor.name}` selects `{key}: {wanted}`, which no pool has",
                flavor.where("node_labels") / key,
                label="its pods stay Pending",
                help=f"did you mean `{close[0]}`?"
                if close
                else pools
                if key == NODEPOOL_LABEL
                else f"add the label to a pool, or select by one that it has; {pools}",
            )
            return
    yield Finding(
        f"no pool has all labels of flavor `{flavor.name}`",
        flavor.where("node_labels"),
        label="its pods stay Pending",
        help="select by `karpenter.sh/nodepool`",
    )
