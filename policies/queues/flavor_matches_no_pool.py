from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pools.plan import FixedPool, titles
from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.choices import describes_nodes
from trainyard.judge.model.fit import not_offered
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import near
from trainyard.plan.scheduling import NODEPOOL_LABEL, ZONE


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
    wanted_labels = flavor.node_labels
    if not wanted_labels or not describes_nodes(world):
        return
    if world.pools_of(flavor):
        return
    rest = dict(wanted_labels)
    rest.pop(ZONE, None)
    if rest:
        reached = [pool for pool in world.pools if world.may_match(pool, rest)]
        if any(not_offered(pool, world) for pool in reached):
            return  # PLC014 reports a zone of the pool that does not have the type
    for key, wanted in wanted_labels.items():
        labels = [world.has_label(pool, key, wanted) for pool in world.pools]
        if all(has is False for has in labels):
            yield Finding(
                f"flavor `{flavor.name}` selects `{key}: {wanted}`, which no pool has",
                flavor.where("node_labels") / key,
                label="its pods stay Pending",
                help=_help(key, wanted, world),
            )
            return
    yield Finding(
        f"no pool has all labels of flavor `{flavor.name}`",
        flavor.where("node_labels"),
        label="its pods stay Pending",
        help="select by `karpenter.sh/nodepool`",
    )


def _help(key: str, wanted: str, world: World) -> str:
    """What to select instead of a label that no pool has."""
    if key != NODEPOOL_LABEL:
        names = listed(titles(world.pools))
        return f"add the label to a pool, or select by one that it has; the pools are {names}"
    names_of_pools = [pool.name for pool in world.pools if not isinstance(pool, FixedPool)]
    close = near(wanted, names_of_pools)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"the pools are {listed(names_of_pools)}"
