from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.core.pools.plan import Pool
from trainyard.eks.kueue.plan import ClusterQueue, Cohort, Flavor
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan


@rule("QUE023", severity=Severity.WARNING, params={"percent": 10})
def pool_exceeds_quotas(plan: Plan, world: World) -> Iterator[Finding]:
    """A pool may have more nodes than all quotas together let jobs use.

    Kueue admits by quota alone, and borrowing only moves quota from one queue of a cohort to another (kueue v0.19.2):
    the nodes above the sum are never used by a job of a queue, also where they are always on and paid for. One node, or
    `percent` of the pool, may be spare for one that fails. Of pools with accelerators, in a whole cluster where every
    job that asks for the pool's devices has a queue.

    ## Fails

        nodePools: [{name: gpu, nodes: {max: 12}}]

        nodePools: [{name: gpu, nodes: 12, managedNodeGroup: {}}]

        # params: {percent: 0}
        nodePools: [{name: gpu, nodes: {max: 6}}]

    ## Passes

        nodePools: [{name: gpu, nodes: {max: 4}}]

        nodePools: [{name: gpu, nodes: {max: 5}}]

        # params: {percent: 50}
        nodePools: [{name: gpu, nodes: {max: 8}}]

        nodePools: [{name: gpu, nodes: {max: 8}}]
        queues: [{name: research, namespaces: [team-a], quota: [{pool: gpu, nodes: 4}]},
          {name: second, namespaces: [team-b], quota: [{pool: gpu, nodes: 4}]}]
    """
    if plan.closed:
        for pool in world.pools:
            yield from _unused(pool, world)


def _unused(pool: Pool, world: World) -> Iterator[Finding]:
    types = world.types(pool)
    counts = [world.most_nodes(pool, instance) for instance in types]
    most = max((count for count in counts if count is not None), default=0)
    if not most or None in counts:
        return
    flavors = [flavor for flavor in world.plan.of(Flavor) if pool in world.pools_of(flavor)]
    quotas = _quotas(world, flavors)
    if not quotas or _used_without_queue(pool, world):
        return
    if any(len(world.pools_of(flavor)) > 1 for flavor in flavors):
        return  # how the quota is divided among its pools is not said
    devices = {(instance.accelerator_resource, instance.accelerators) for instance in types}
    if len(devices) > 1:
        return
    resource, count = devices.pop()
    given = quotas.get(resource or "")
    if not given:
        return
    nodes = given // (count * 1000)
    spare = max(1, most * world.param("percent") // 100)
    if most - spare > nodes:
        yield Finding(
            f"pool `{pool.title}` may have {most} nodes, and all quotas together are of {nodes}",
            pool.where("replicas" if pool.replicas is not None else "limits"),
            label=f"{most - nodes} nodes that no queue can use",
            help="raise the quota of a queue, or lower the limit of the pool",
            spec_help="raise `nodes` of a quota, or lower `nodes` of the pool",
        )


def _quotas(world: World, flavors: list[Flavor]) -> Mapping[str, int]:
    """The sum of all quotas of flavors, in thousandths by resource."""
    names = {flavor.name for flavor in flavors}
    sums: dict[str, int] = {}
    holders: list[ClusterQueue | Cohort] = [*world.plan.of(ClusterQueue), *world.plan.of(Cohort)]
    for holder in holders:
        for group in holder.flavors():
            if group.flavor not in names:
                continue
            for quota in group.quotas:
                sums[quota.resource] = sums.get(quota.resource, 0) + quota.nominal.milli
    return sums


def _used_without_queue(pool: Pool, world: World) -> bool:
    """Whether some job lands on a pool without a queue."""
    return any(not work.queued for work in world.works_on(pool))
