from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pools.plan import titles
from compiler.diagnostics import Severity
from compiler.diagnostics.diagnostic import listed
from compiler.plan.units import Quantity
from compiler.platforms.eks.nodes.plan import NodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("LIM039", severity=Severity.WARNING, params={"gibibytes": 60})
def root_volume_too_small(node_class: NodeClass, world: World) -> Iterator[Finding]:
    """The root volume of nodes that pull training images is too small for one.

    Where nodes have no NVMe disks, or leave them alone, images lie on the root volume, next to the system's own 20 GiB
    (awslabs/amazon-eks-ami 81fec2e, variables-default.json). An image with CUDA and PyTorch takes 20 to 30 GiB once it
    is unpacked, and the kubelet begins to evict pods at 85 % (Kubernetes, imageGCHighThresholdPercent). `gibibytes` is
    the least that is accepted.

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
    if node_class.instance_store is not None or not node_class.block_devices:
        return
    least = Quantity.parse(f"{world.param('gibibytes')}Gi")
    sizes = [device.size for device in node_class.block_devices]
    largest = max(sizes)
    pools = world.pools_of_class(node_class)
    if largest >= least or not any(map(world.accelerated, pools)):
        return
    names = listed(titles(pools))
    yield Finding(
        f"nodes of {names} have {largest} for the system and all images",
        node_class.where("block_devices") / sizes.index(largest) / "ebs" / "volumeSize",
        label="an image does not fit",
        help=f"write at least {least}",
        spec_help=f"write `rootVolume: {{size: {least}}}` or more, or leave out `localStorage: none`",
    )
