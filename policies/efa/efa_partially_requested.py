from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import EFA
from trainyard.judge.model.fit import not_offered
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("EFA018", aliases=("efa-in-part",), severity=Severity.WARNING, pods=True)
def efa_partially_requested(work: Work, world: World) -> Iterator[Finding]:
    """A job takes whole nodes, and not all of their EFA devices.

    A container sees the devices that it asks for (EFA device plugin v0.5.30): of a p5.48xlarge that is 1 of 32 for
    `vpc.amazonaws.com/efa: 1`, with that part of the bandwidth, while Karpenter attaches all of them and nobody else
    can use the rest (karpenter-provider-aws v1.14.1).

    ## Fails

        jobs: [{name: llama, resources: {efa: 1}}]

    ## Passes

        jobs: [{name: llama, resources: {efa: 4}}]
    """
    if not work.gang or work.accelerator is None:
        return
    if not work.efa or not work.types:
        return
    if any(not_offered(pool, world) for pool in work.pools):
        return  # reported as a type that is not there
    has = {world.efa_of(pool, instance) for pool in work.pools for instance in world.types(pool)}
    count = work.accelerator[1]
    whole = all(instance.accelerators == count for instance in work.types)
    if whole and len(has) == 1 and work.efa < max(has):
        yield Finding(
            f"{work.title} asks for {work.efa} of the {max(has)} EFA devices of each node",
            work.place(EFA),
            label="the rest stays idle",
            help=f'ask for `{EFA}: "{max(has)}"`, all that a node has',
            spec_help=f"write `resources: {{efa: {max(has)}}}`, all of a node, or remove `efa` to have it derived",
        )
