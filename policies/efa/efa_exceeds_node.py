from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.jobs import EFA
from compiler.policy.offers import GroupPool
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


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
    if (
        not work.efa
        or not work.types
        or any("efa_interfaces" in each.unknown for each in work.types)
    ):
        return
    if work.accelerator and work.accelerator[1] > max(
        each.accelerators for each in work.types
    ):
        return  # what was asked for the devices of another type is told as that
    has, name = max((world.efa_of(*each), each[1].name) for each in work.offers)
    groups = [
        each for each in work.pools if isinstance(each, GroupPool) and not each.efa
    ]
    if (
        not has
        and len(groups) == len(work.pools)
        and work.efa <= max(each.efa_interfaces for each in work.types)
    ):
        yield Finding(
            f"node group `{groups[0].name}` has no EFA, and {work.title} asks for {work.efa} devices a node",
            groups[0].where("efa"),
            label="its pods stay Pending",
            help="write `efaEnabled: true`",
        )
    elif work.efa > has:
        yield Finding(
            f"{work.title} asks for {work.efa} EFA devices a node, and `{name}` has {has}",
            work.place(EFA),
            label="its pods stay Pending",
            help=f"ask for {has}" if has else "take a type with EFA, or ask for none",
        )
