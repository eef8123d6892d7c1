from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainyard.core.pools.plan import Pool, titles
from trainyard.eks.nodes.plan import NodeClass
from trainyard.judge.model.choices import knows_flavors
from trainyard.judge.model.fit import room_by_pool
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import ZONE


@rule(
    "PLC004",
    gangs=True,
    roles=True,
    kubernetes="subnets of several zones are no fault of a partition that its own format would let pass",
    aliases=("efa-zone-unpinned",),
)
def efa_zone_not_pinned(work: Work, world: World) -> Iterator[Finding]:
    """A job of several nodes talks over EFA, and nothing keeps its nodes in one zone.

    A pool without a requirement on `topology.kubernetes.io/zone` launches in the zones of all subnets of its node
    class, each node by itself; EFA does not leave a zone (EC2 user guide, EFA limitations). The same goes for a job
    that fits on pools of several zones together, and on those of none alone.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: Exists, values: null}]}}

        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {limits: {nvidia.com/gpu: 16}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: more}
        spec:
          limits: {nvidia.com/gpu: 16}
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        spec: {nodeLabels: {$patch: replace, node.kubernetes.io/instance-type: p4d.24xlarge}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          nodeSelector: {karpenter.sh/nodepool: null}}}}}}]}}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b]}]}}
    """
    if work.pod is None or not work.gang:
        return
    if not work.efa:
        return
    if not knows_flavors(work, world):
        return
    for pool in work.pools:
        if pool.zones is not None or not work.spread(pool):
            continue
        if not _is_pinned(pool, world.node_class(pool)):
            yield Finding(
                f"pool `{pool.title}` pins no zone, and {work.title} talks over EFA between {work.largest} nodes",
                pool.where("zones"),
                label="each node may come up in another zone",
                help=f"require `{ZONE}` `In` one zone",
            )
            return
    yield from _split(work, world)


def _split(work: Work, world: World) -> Iterator[Finding]:
    """A job that needs pools of several zones at once."""
    for choice in work.choices:
        if not all(work.spread(pool) for pool in choice.pools):
            return
        room = room_by_pool(work, choice, world)
        if room is None:
            return
        by_zone: Counter[str] = Counter()
        for pool in choice.pools:
            if pool.zones is None or len(pool.zones) != 1:
                return
            zone = pool.zones[0]
            by_zone[zone] += room.get(pool.name, 0)
        nodes = work.nodes or 0
        rooms = by_zone.values()
        if max(rooms) >= nodes or sum(rooms) < nodes:
            return
    if work.choices:
        pools = work.choices[0].pools
        last = pools[-1]
        names = listed(titles(pools))
        yield Finding(
            f"{work.title} needs pools {names} together, and talks over EFA between {work.largest} nodes",
            last.where("zones"),
            label="EFA traffic cannot leave a zone",
            help="put the pools into one zone, or make one of them large enough",
        )


def _is_pinned(pool: Pool, node_class: NodeClass | None) -> bool:
    """Whether the subnets are unknown or a single one, or nodes come into a placement group or reservations only: a
    cluster placement group and a reservation lie in one zone."""
    if node_class is None or node_class.placement_group:
        return True
    if not node_class.subnets:
        return True
    if len(node_class.subnets) == 1 and node_class.subnets[0].id:
        return True
    only_reserved = pool.capacity_types == ("reserved",)
    return only_reserved and len(node_class.reservations) == 1
