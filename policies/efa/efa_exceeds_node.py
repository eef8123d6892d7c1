from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import EFA
from trainyard.core.pools.plan import FixedPool
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("EFA002", aliases=("efa-over-type",), pods=True)
def efa_exceeds_node(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more EFA devices than a node has.

    The devices of a node are those of its type, or those that `networkInterfaces` of the EC2NodeClass fixes (EC2
    DescribeInstanceTypes MaximumEfaInterfaces; karpenter-provider-aws v1.14.1): the pods stay Pending.

    ## Fails

        jobs: [{name: llama, resources: {efa: 8}}]

    ## Passes

        jobs: [{name: llama, resources: {efa: 4}}]
    """
    types = work.types
    if not work.efa or not types:
        return
    if any("efa_interfaces" in instance.unknown for instance in types):
        return
    most = max(instance.accelerators for instance in types)
    if work.accelerator and work.accelerator[1] > most:
        return  # LIM001 reports a request that was written for another type
    interfaces = [(world.efa_of(pool, instance), instance.name) for pool, instance in work.offers]
    has, name = max(interfaces)
    waits = "its pods stay Pending" if work.has_pods else "no node ever fits"
    groups = [pool for pool in work.pools if isinstance(pool, FixedPool)]
    disabled = [group for group in groups if not group.efa]
    enough = work.efa <= max(instance.efa_interfaces for instance in types)
    if not has and len(disabled) == len(work.pools) and enough:
        group = "node group" if work.has_pods else "pool"
        yield Finding(
            f"{group} `{disabled[0].title}` has no EFA, and {work.title} asks for {work.efa} devices a node",
            disabled[0].where("efa"),
            label=waits,
            help="write `efaEnabled: true`" if work.has_pods else "give its nodes EFA",
        )
    elif work.efa > has:
        help = "take a type with EFA, or ask for none"
        spec_help = "take a type with EFA, or remove `efa` of `resources`"
        if has:
            help = f"ask for {has}"
            spec_help = f"write `resources: {{efa: {has}}}`, or remove `efa` to have it derived"
        yield Finding(
            f"{work.title} asks for {work.efa} EFA devices a node, and `{name}` has {has}",
            work.place(EFA),
            label=waits,
            help=help,
            spec_help=spec_help,
        )
