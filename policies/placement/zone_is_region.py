from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.jobs.plan import Runtime, patches_of
from trainyard.eks.kueue.plan import Flavor
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import place
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan import Plan
from trainyard.plan.scheduling import ZONE


@rule("PLC001")
def zone_is_region(plan: Plan, world: World) -> Iterator[Finding]:
    """A Region is given as an Availability Zone, or a zone as the Region.

    The label `topology.kubernetes.io/zone` of a node is a zone, like `us-west-2b`; no node has a Region there, so
    Karpenter finds no offering and pods stay Pending (Kubernetes well-known labels; karpenter v1.14).

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b]}]}}
    """
    cluster = plan.one(Cluster)
    if cluster is not None and re.match(_ZONE, cluster.region):
        yield Finding(
            f"Region `{cluster.region}` is an Availability Zone",
            cluster.where("region"),
            help=f"write `{cluster.region[:-1]}`",
        )
    for zone, at in zones_named(plan):
        if re.match(_REGION, zone):
            known = world.catalog.regions.get(zone, ())
            yield Finding(
                f"zone `{zone}` is a Region",
                at,
                label="no node has this zone",
                help=f"write one of {listed(known)}" if known else f"write `{zone}a`",
            )


_ZONE = r"[a-z]{2}(-[a-z]+){1,2}-\d[a-z]\Z"
_REGION = r"[a-z]{2}(-[a-z]+){1,2}-\d\Z"


def zones_named(plan: Plan) -> Iterator[tuple[str, Route]]:
    """Every zone that a pool, a flavor, a runtime or a patch asks for."""
    for pool in plan.of(NodePool):
        for name in pool.zones or ():
            yield name, place(pool, ZONE, name)
    for flavor in plan.of(Flavor):
        zone = flavor.node_labels.get(ZONE)
        if zone is not None:
            yield zone, flavor.where("node_labels") / ZONE
    pods = []
    for runtime in plan.of(Runtime):
        pods += [replicated.pod for replicated in runtime.jobs]
    for job in plan.of(Gang):
        pods += [patch.pod for patch in patches_of(job)]
    for pod in pods:
        zone = pod.node_selector.get(ZONE)
        if zone is not None:
            yield zone, pod.where("node_selector") / ZONE
