from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import ClusterQueue, Flavor
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("QUE006", aliases=("quota-of-part-nodes",), severity=Severity.WARNING)
def quota_of_partial_nodes(queue: ClusterQueue, world: World) -> Iterator[Finding]:
    """A quota of accelerators is not a multiple of what a node has.

    Jobs of whole nodes can never use the rest: of 100 GPUs on nodes of 8, 4 are promised and never given.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        spec: {resourceGroups: [{flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 30}]}]}]}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {numNodes: 2}}

    ## Passes

        jobs: [{name: llama}]
    """
    for group in queue.flavors():
        flavor = world.plan.named(Flavor, group.flavor)
        if flavor:
            pools = world.pools_of(flavor)
        else:
            pools = []
        types = [instance for pool in pools for instance in world.types(pool)]
        for quota in group.quotas:
            sizes = {
                instance.accelerators
                for instance in types
                if instance.accelerator_resource == quota.resource
            }
            if len(sizes) != 1:
                continue
            size = sizes.pop()
            nominal = quota.nominal
            if nominal.value % size:
                low = nominal.value // size * size
                yield Finding(
                    f"queue `{queue.name}` has {nominal} of `{quota.resource}`, and nodes have {size} each",
                    quota.where("nominal"),
                    help=f"write {low} or {low + size}",
                )
