from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.values import seconds
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.units import Duration


@rule("PLC034", aliases=("drain-over-block",), severity=Severity.WARNING, params={"minutes": 8})
def drain_exceeds_capacity_block_notice(pool: NodePool, world: World) -> Iterator[Finding]:
    """A pool of Capacity Blocks drains its nodes for longer than EC2 allows.

    EC2 begins to terminate the instances 30 minutes before a block ends. Karpenter drains them from 40 minutes before
    the end on, and looks once a minute (karpenter-provider-aws v1.14.1, capacityreservation/expiration; EC2 user
    guide, Capacity Blocks): with `terminationGracePeriod` above 8 minutes, or without one where pods say
    `karpenter.sh/do-not-disrupt`, EC2 may be first, and what is being saved is lost. UltraServers are taken 60 minutes
    before the end, before Karpenter begins: there no grace period helps, and only what was saved before counts.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template:
            spec:
              requirements:
                - {key: karpenter.sh/capacity-type, operator: In, values: [reserved]}
                - {key: karpenter.k8s.aws/capacity-reservation-type, operator: In, values: [capacity-block]}
              terminationGracePeriod: 10m
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {capacityReservationSelectorTerms: [{id: cr-0a1b2c3d4e5f60718}], placementGroupSelector: null}

        # as the first that fails, but
        # params: {minutes: 4}
        kind: NodePool
        spec: {template: {spec: {terminationGracePeriod: 5m}}}

    ## Passes

        nodePools: [{name: gpu, nodes: 4, capacity: {block: {reservations: [{id: cr-0a1b2c3d4e5f60718}]}}}]

        # params: {minutes: 10}
        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template:
            spec:
              requirements:
                - {key: karpenter.sh/capacity-type, operator: In, values: [reserved]}
                - {key: karpenter.k8s.aws/capacity-reservation-type, operator: In, values: [capacity-block]}
              terminationGracePeriod: 10m
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {capacityReservationSelectorTerms: [{id: cr-0a1b2c3d4e5f60718}], placementGroupSelector: null}
    """
    if not world.block(pool):
        return
    most = world.param("minutes") * 60
    drain = seconds(pool.termination_grace)
    types = world.types(pool)
    if types and all(instance.family in _ULTRASERVERS for instance in types):
        yield Finding(
            f"pool `{pool.title}` has UltraServers, which EC2 takes 60 minutes before their block ends, and Karpenter "
            "drains from 40 minutes before it",
            pool.where("termination_grace"),
            label="pods get no signal to stop",
            help="save often, and stop the jobs by hand in time",
        )
    elif drain is not None and drain > most:
        yield Finding(
            f"pool `{pool.title}` drains in {Duration(drain)}, and EC2 may take the nodes of its block after "
            f"{Duration(most)}",
            pool.where("termination_grace"),
            label="what is being saved is lost",
            help=f"write `terminationGracePeriod: {Duration(most)}`",
        )
    elif drain is None and any(map(_undisruptable, world.works_on(pool))):
        yield Finding(
            f"pool `{pool.title}` of a Capacity Block has no `terminationGracePeriod`, and its pods may not be "
            "disrupted",
            pool.where("termination_grace"),
            label="pods get no signal to stop",
            help=f"write `terminationGracePeriod: {Duration(most)}`",
        )


def _undisruptable(work: Work) -> bool:
    return work.pod is not None and _DO_NOT_DISRUPT in work.pod.annotations


_DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
_ULTRASERVERS = ("p6e-gb200", "p6e-gb300", "trn2u")
