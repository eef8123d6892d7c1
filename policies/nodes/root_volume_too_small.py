from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.core.pools.plan import FixedPool, Pool, titles
from compiler.diagnostics import Severity
from compiler.diagnostics.diagnostic import listed
from compiler.places import Route
from compiler.plan import Plan
from compiler.plan.units import Quantity
from compiler.platforms.eks.nodes.plan import NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("LIM039", severity=Severity.WARNING, params={"gibibytes": 60})
def root_volume_too_small(plan: Plan, world: World) -> Iterator[Finding]:
    """The root volume of nodes that pull training images is too small for one.

    Where nodes have no NVMe disks, or leave them alone, images lie on the root volume, next to the system's own 20 GiB
    (awslabs/amazon-eks-ami 81fec2e, variables-default.json). An image with CUDA and PyTorch takes 20 to 30 GiB once it
    is unpacked, and the kubelet begins to evict pods at 85 % (Kubernetes, imageGCHighThresholdPercent). `gibibytes` is
    the least that is accepted. Nodes of ParallelCluster need 85 GiB more: their system has 45, and enroot keeps an
    image in layers, as it imported it and unpacked (enroot 3.4.1, cmd/import and cmd/create).

    ## Fails

        nodePools: [{name: gpu, localStorage: none, rootVolume: {size: 30Gi}}]

        # params: {gibibytes: 300}
        nodePools: [{name: gpu, localStorage: none, rootVolume: {size: 200Gi}}]

    ## Passes

        # params: {gibibytes: 25}
        nodePools: [{name: gpu, localStorage: none, rootVolume: {size: 30Gi}}]

        nodePools: [{name: gpu, localStorage: none, rootVolume: {size: 200Gi}}]

        nodePools: [{name: gpu, rootVolume: {size: 30Gi}}]
    """
    said = Quantity.parse(f"{world.param('gibibytes')}Gi")
    for size, pools, at in _of_classes(plan, world):
        if size < said and any(map(world.accelerated, pools)):
            yield _finding(listed(titles(pools)), size, said, at)
    for pool in world.pools:
        if not isinstance(pool, FixedPool) or pool.root is None:
            continue
        least = said + pool.beside_images
        if pool.root < least and world.accelerated(pool):
            yield _finding(pool.title, pool.root, least, pool.where("root"))


def _of_classes(plan: Plan, world: World) -> Iterator[tuple[Quantity, Sequence[Pool], Route]]:
    """The largest disk of each node class whose nodes have images on it, and the pools that launch by it."""
    for node_class in plan.every(NodeClass):
        if node_class.instance_store is None and node_class.block_devices:
            sizes = [device.size for device in node_class.block_devices]
            largest = max(sizes)
            disk = node_class.where("block_devices") / sizes.index(largest)
            yield largest, world.pools_of_class(node_class), disk / "ebs" / "volumeSize"


def _finding(names: str, size: Quantity, least: Quantity, at: Route) -> Finding:
    return Finding(
        f"nodes of {names} have {size} for the system and all images",
        at,
        label="an image does not fit",
        help=f"write at least {least}",
        spec_help=f"write `rootVolume: {{size: {least}}}` or more, or leave out `localStorage: none`",
    )
