from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pools.plan import Pool
from compiler.model.bodies import body_at
from compiler.model.work import Work
from compiler.platforms.eks.nodes.plan import AutoNodeClass
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World

_FIELD = "associatePublicIPAddress"


@rule(
    "EFA046",
    kubernetes="ParallelCluster refuses a public address with several network cards by itself",
    pods=True,
)
def public_address_with_interfaces(work: Work, world: World) -> Iterator[Finding]:
    """Nodes of an EFA job are to get a public address, which EC2 gives to one network interface alone.

    Karpenter launches nodes for pods that ask for EFA with all EFA interfaces of the type; an instance with more than
    one interface cannot have a public address assigned at its launch, and EC2 refuses it (EC2 user guide,
    using-instance-addressing; aws/karpenter-provider-aws#5666).

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {associatePublicIPAddress: true}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {associatePublicIPAddress: false}
    """
    if not work.efa:
        return
    for pool in work.pools:
        node_class = world.node_class(pool)
        if node_class is None or _most_interfaces(work, pool, world) < 2:
            continue
        is_auto = isinstance(node_class, AutoNodeClass)
        inner = ("spec", *(("advancedNetworking",) if is_auto else ()), _FIELD)
        if body_at(world, node_class.at / inner) is True:
            yield Finding(
                f"node class `{node_class.name}` asks for a public address, and nodes for EFA have several interfaces",
                node_class.at / inner,
                label="EC2 refuses the launch",
                help=f"remove `{_FIELD}`, or set it to false",
            )
            return


def _most_interfaces(work: Work, pool: Pool, world: World) -> int:
    """The most network interfaces of a node of a pool that EFA pods are on."""
    node_class = world.node_class(pool)
    if node_class is not None and node_class.interfaces:
        return len(node_class.interfaces)
    counts = [instance.efa_interfaces for own, instance in work.offers if own is pool]
    return max(counts, default=0)
