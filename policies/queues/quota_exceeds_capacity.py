from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import EFA
from trainyard.core.pools.plan import Pool
from trainyard.core.queues.plan import Quota
from trainyard.eks.kueue.plan import ClusterQueue, Flavor
from trainyard.judge.model.fit import exceeds_pool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Quantity


@rule("QUE004", aliases=("quota-over-capacity",))
def quota_exceeds_capacity(flavor: Flavor, world: World) -> Iterator[Finding]:
    """Queues promise more of a flavor than its pools may launch.

    Kueue admits by quota and does not look at nodes (kueue v0.19.2): jobs beyond the `limits` of the NodePool hold
    their quota, wait for nodes that never come, are evicted after `waitForPodsReady` and start over.

    ## Fails

        queues: [{name: research, quota: [{pool: gpu, nodes: 5}]}]

    ## Passes

        queues: [{name: research, quota: [{pool: gpu, nodes: 4}]}]
    """
    pools = world.pools_of(flavor)
    labels = flavor.node_labels.items()
    set_labels = (world.has_label(pool, key, wanted) for pool in pools for key, wanted in labels)
    if not any(set_labels):
        return  # its nodes may come from elsewhere
    promised = _quotas(flavor, world)
    resources = [quota.resource for _, quota in promised]
    for resource in dict.fromkeys(resources):
        rooms = [_room(pool, resource, world) for pool in pools]
        known = [amount for amount in rooms if amount is not None]
        given = [pair for pair in promised if pair[1].resource == resource]
        # QUE006 reports the part of a quota that no job of whole nodes can use.
        part = _devices_of_node(pools, resource, world) * 1000
        nominal = [quota.nominal.milli for _, quota in given]
        total = sum(milli - milli % part for milli in nominal)
        room = sum(known)
        if len(known) < len(rooms) or total <= room:
            continue
        works = [work for pool in pools for work in world.works_on(pool)]
        if any(exceeds_pool(work, world) for work in works):
            continue  # LIM003 reports the gang that its pool has no room for
        most = Quantity(room)
        over = (pair for pair in given if pair[1].nominal > most)
        queue, quota = next(over, given[-1])
        alone = f"queue `{queue.name}` promises {quota.nominal}"
        among = alone
        if len(given) > 1:
            among = f"queues promise {Quantity(total)}"
        yield Finding(
            f"{among} of `{resource}` in flavor `{flavor.name}`, and its pools have at most {most}",
            quota.where("nominal"),
            help="lower the quota, or raise the limit of the pool",
            spec_help=f"lower `nodes` of the quota, or raise `nodes` of pool `{flavor.name}`",
        )
        return  # the other resources of the same nodes say the same


def _quotas(flavor: Flavor, world: World) -> list[tuple[ClusterQueue, Quota]]:
    """The quotas of a flavor, each with its queue."""
    return [
        (queue, quota)
        for queue in world.plan.of(ClusterQueue)
        for group in queue.flavors()
        if group.flavor == flavor.name
        for quota in group.quotas
    ]


def _devices_of_node(pools: list[Pool], resource: str, world: World) -> int:
    sizes = {
        instance.accelerators
        for pool in pools
        for instance in world.types(pool)
        if instance.accelerator_resource == resource
    }
    if len(sizes) == 1:
        return sizes.pop()
    return 1


def _room(pool: Pool, resource: str, world: World) -> int | None:
    """Thousandths of a resource that a pool may have; ``None`` is unknown. Only devices are counted: what pods can
    get of CPU and memory is less than a node's, by an amount that quotas leave out or not."""
    amounts = []
    for instance in world.types(pool):
        nodes = world.most_nodes(pool, instance)
        if nodes is None:
            return None
        if resource == instance.accelerator_resource:
            amounts.append(nodes * instance.accelerators * 1000)
        elif resource == EFA and "efa_interfaces" not in instance.unknown:
            interfaces = world.efa_of(pool, instance)
            amounts.append(nodes * interfaces * 1000)
        elif resource == "cpu" and not instance.accelerators:
            amounts.append(nodes * instance.vcpus * 1000)
        else:
            return None
    return max(amounts, default=None)
