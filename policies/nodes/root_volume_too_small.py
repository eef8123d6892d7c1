from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import BlockDevice, Launch
from trainyard.core.pools.plan import FixedPool, titles
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import Plan


@rule("LIM039", severity=Severity.WARNING, params={"gibibytes": 60}, alone=True)
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
    for launch in plan.of(Launch):
        disk = _of_images(launch)
        names = _accelerated(launch, world)
        if disk is not None and disk.size < said and names:
            yield _finding(names, disk.size, said, disk.size_at)
    for pool in world.pools:
        if not isinstance(pool, FixedPool) or pool.root is None:
            continue
        least = said + pool.beside_images
        if pool.root < least and world.accelerated(pool):
            yield _finding(pool.title, pool.root, least, pool.where("root"))


def _of_images(launch: Launch) -> BlockDevice | None:
    """The largest disk, where images lie on one of them."""
    if launch.instance_store is not None or launch.unread & {"block_devices", "scripts"}:
        return None
    return max(launch.block_devices, key=lambda disk: disk.size, default=None)


def _accelerated(launch: Launch, world: World) -> str:
    """Whose nodes have accelerators; empty where nobody's have."""
    if isinstance(launch, NodeClass):
        pools = world.pools_of_class(launch)
        return listed(titles(pools)) if any(map(world.accelerated, pools)) else ""
    types = world.types_started(launch) if launch.for_nodes else ()
    is_accelerated = bool(types) and all(instance.accelerators for instance in types)
    return launch.words if is_accelerated else ""


def _finding(names: str, size: Quantity, least: Quantity, at: Route) -> Finding:
    return Finding(
        f"nodes of {names} have {size} for the system and all images",
        at,
        label="an image does not fit",
        help=f"write at least {least}",
        spec_help=f"write `rootVolume: {{size: {least}}}` or more, or leave out `localStorage: none`",
    )
