from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan import Plan


@rule("PLC008")
def placement_strategy_unsupported(plan: Plan, world: World) -> Iterator[Finding]:
    """The instance type does not take the strategy of its placement group.

    EC2 lists the strategies by type (DescribeInstanceTypes SupportedStrategies); Karpenter leaves types out that do
    not support the group's, so the pool has no type left (karpenter-provider-aws v1.14.1, placement groups).

    ## Fails

        nodePools: [{name: gpu, instanceTypes: [t3.2xlarge], placement: cluster}]
        jobs: [{name: llama, nodes: 1}]

    ## Passes

        nodePools: [{name: gpu, placement: cluster}]
    """
    for pool in world.pools:
        group = world.placement_group(pool)
        if group is None or group.strategy is None:
            continue
        for instance in world.types(pool):
            supported = instance.placement_strategies
            if "placement_strategies" in instance.unknown or group.strategy in supported:
                continue
            yield Finding(
                f"`{instance.name}` does not take placement strategy `{group.strategy}`",
                group.at,
                help=f"write one of {listed(supported)}" if supported else "remove it",
                spec_help=_spec_help(supported),
            )


def _spec_help(supported: Sequence[str]) -> str:
    words = listed(f"placement: {strategy}" for strategy in supported)
    return f"write one of {words}" if supported else "write `placement: none`"
