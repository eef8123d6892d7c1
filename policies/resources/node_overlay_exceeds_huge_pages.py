from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import InstanceType, huge_pages_mib
from trainyard.core.pods.plan import HUGEPAGES
from trainyard.eks.nodes.plan import NodeOverlay, NodePool
from trainyard.judge.model.offers import admits
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Quantity
from trainyard.plan.scheduling import NODEPOOL_LABEL


@rule("EFA019", aliases=("overlay-over-huge-pages",), severity=Severity.WARNING)
def node_overlay_exceeds_huge_pages(overlay: NodeOverlay, world: World) -> Iterator[Finding]:
    """A NodeOverlay promises more huge pages than its nodes have.

    Karpenter trusts the overlay and launches a node for a pod that asks for as much; the kubelet rejects the pod, and
    Karpenter launches the next node (karpenter.sh/v1alpha1 NodeOverlay, v1.14.1). A node with EFA has (110 × vCPU + 1)
    pages of 2 MiB, 21122Mi on p4d.24xlarge and 3522Mi on p5.4xlarge; why is in EFA009.

    ## Fails

        apiVersion: karpenter.sh/v1alpha1
        kind: NodeOverlay
        metadata: {name: gpu}
        spec:
          requirements: [{key: karpenter.sh/nodepool, operator: In, values: [gpu]}]
          capacity: {hugepages-2Mi: 42242Mi}

    ## Passes

        apiVersion: karpenter.sh/v1alpha1
        kind: NodeOverlay
        metadata: {name: gpu}
        spec:
          requirements: [{key: karpenter.sh/nodepool, operator: In, values: [gpu]}]
          capacity: {hugepages-2Mi: 10256Mi}
    """
    promised = overlay.capacity.get(HUGEPAGES)
    pools = _pools(overlay, world)
    if promised is None or any(world.own_kubelet(pool) for pool in pools):
        return
    types: list[InstanceType] = []
    for pool in pools:
        offered = world.types(pool)
        if not offered:
            return
        types += offered
    if not types:
        return
    least = min(types, key=huge_pages_mib)
    has = Quantity.mib(huge_pages_mib(least))
    if promised > has:
        yield Finding(
            f"overlay `{overlay.name}` promises {promised} of `{HUGEPAGES}`, and a node of `{least.name}` has {has}",
            overlay.where("capacity") / HUGEPAGES,
            label="Karpenter launches node after node",
            help=f"write `{has}`",
        )


def _pools(overlay: NodeOverlay, world: World) -> list[NodePool]:
    """The pools that an overlay is for, where it says them by name and by nothing else."""
    requirements = overlay.requirements
    if {requirement.key for requirement in requirements} != {NODEPOOL_LABEL}:
        return []
    pools = list(world.plan.of(NodePool))
    for requirement in requirements:
        pools = [pool for pool in pools if admits(requirement, pool.name)]
    return pools
