from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("QUE007", aliases=("topology-needs-standing-nodes",))
def topology_on_dynamic_pool(flavor: Flavor, world: World) -> Iterator[Finding]:
    """A flavor places jobs by topology, and its pools scale from zero.

    Topology-aware scheduling counts nodes that exist and are Ready; scaling up for it needs a ProvisioningRequest,
    which Karpenter does not answer (kueue v0.19.2, TAS; karpenter core 1.15 has none). With no node standing,
    nothing is ever admitted.

    ## Fails

        nodePools: [{name: gpu, topology: network}]

    ## Passes

        nodePools: [{name: gpu, topology: network, nodes: 4}]
    """
    if flavor.topology is None:
        return
    pools = world.pools_of(flavor)
    if pools and all(world.starts_empty(pool) for pool in pools):
        pool = pools[0].title
        yield Finding(
            f"flavor `{flavor.name}` places by topology `{flavor.topology}`, and pool `{pool}` starts from 0 "
            "nodes",
            flavor.where("topology"),
            label="no job is ever admitted",
            help="keep the nodes always on (`replicas`), or use no topology",
            spec_help="write `nodes` as a number, which keeps them always on, or `topology: none`",
        )
