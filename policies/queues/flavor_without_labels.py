from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import ACCELERATORS
from trainyard.eks.kueue.plan import ClusterQueue, Flavor
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("QUE017", severity=Severity.WARNING)
def flavor_without_labels(flavor: Flavor, world: World) -> Iterator[Finding]:
    """A flavor selects no nodes, though there is more than one pool.

    Without `nodeLabels` Kueue counts quota in this flavor and lets the pods run anywhere (kueue v0.19.2,
    ResourceFlavor): quota of one pool is spent on nodes of another.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        spec: {nodeLabels: null}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: second}
        spec: {limits: {nvidia.com/gpu: 8}}

    ## Passes

        jobs: [{name: llama}]
    """
    # With a topology the API refuses it (verify).
    if flavor.node_labels or flavor.topology is not None:
        return
    if len(world.pools) < 2:
        return
    queues = world.plan.of(ClusterQueue)
    if any(_steers(queue, flavor) for queue in queues):
        yield Finding(
            f"flavor `{flavor.name}` selects no nodes, and there are {len(world.pools)} pools",
            flavor.where("node_labels"),
            help="add `nodeLabels: {karpenter.sh/nodepool: …}`",
        )


def _steers(queue: ClusterQueue, flavor: Flavor) -> bool:
    """Whether the flavor decides where jobs of a queue land: it counts devices, or everything."""
    for group in queue.groups:
        names = [quotas.flavor for quotas in group.flavors]
        if flavor.name in names:
            if len(queue.groups) == 1:
                return True
            return any(resource in ACCELERATORS for resource in group.covered)
    return False
