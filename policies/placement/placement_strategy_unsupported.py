from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.diagnostics.diagnostic import listed
from compiler.platforms.eks.cluster.plan import Bootstrap
from compiler.platforms.eks.nodes.plan import NodePool
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule("PLC008")
def placement_strategy_unsupported(pool: NodePool, world: World) -> Iterator[Finding]:
    """The instance type does not take the strategy of its placement group.

    EC2 lists the strategies by type (DescribeInstanceTypes SupportedStrategies); Karpenter leaves types out that do
    not support the group's, so the pool has no type left (karpenter-provider-aws v1.14.1, placement groups).

    ## Fails

        nodePools: [{name: gpu, instanceTypes: [t3.2xlarge], placement: cluster}]
        jobs: [{name: llama, nodes: 1}]

    ## Passes

        nodePools: [{name: gpu, placement: cluster}]
    """
    node_class = world.node_class(pool)
    bootstrap = world.plan.one(Bootstrap)
    if node_class is None or bootstrap is None:
        return
    strategies = {group.name: group.strategy for group in bootstrap.placement_groups}
    strategy = strategies.get(node_class.placement_group or "")
    for instance in world.types(pool) if strategy else ():
        supported = instance.placement_strategies
        if "placement_strategies" in instance.unknown:
            continue
        if strategy not in supported:
            yield Finding(
                f"`{instance.name}` does not take placement strategy `{strategy}`",
                node_class.where("placement_group"),
                help=f"write one of {listed(supported)}" if supported else "remove it",
                spec_help=_spec_help(supported),
            )


def _spec_help(supported: Sequence[str]) -> str:
    words = listed(f"placement: {strategy}" for strategy in supported)
    return f"write one of {words}" if supported else "write `placement: none`"
