from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.jobs import EFA
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("EFA002")
def efa_over_type(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more EFA devices than a node has.

    The devices of a node are those of its type, or those that `networkInterfaces` of the EC2NodeClass fixes (EC2
    DescribeInstanceTypes MaximumEfaInterfaces; karpenter-provider-aws v1.14.1): the pods stay Pending.

    ## Fails

        jobs: [{name: llama, resources: {efa: 8}}]

    ## Passes

        jobs: [{name: llama, resources: {efa: 4}}]
    """
    if not work.efa or not work.types or any("efa_interfaces" in each.unknown for each in work.types):
        return
    has, name = max((world.efa_of(*each), each[1].name) for each in work.offers)
    if work.efa > has:
        yield Finding(
            f"job `{work.name}` asks for {work.efa} EFA devices a node, and `{name}` has {has}",
            work.place(EFA), label="its pods stay Pending",
            help=f"ask for {has}" if has else "take a type with EFA, or ask for none",
        )
