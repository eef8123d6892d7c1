from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import untolerated
from compiler.policy.choices import keeping_away
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE003")
def taint_not_tolerated(work: Work, world: World) -> Iterator[Finding]:
    """Neither a job nor its flavor tolerates a taint of the pool that it runs on.

    A taint keeps every pod away that does not tolerate it (Kubernetes, taints and tolerations); Karpenter launches
    no node for such a pod. Kueue adds the tolerations of the flavor (kueue v0.19.2); EKS adds one for the device
    that a pod asks for, where the key of the taint is its name.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {template: {spec: {taints: [{key: team, value: a, effect: NoSchedule}]}}}

    ## Passes

        nodePools: [{name: gpu, taints: [{key: team, value: a}]}]
    """
    if work.pod is None or work.queue_unknown:
        return
    trainer = work.runtime.trainer() if work.runtime else None
    # What a patch drops of the runtime's tolerations is told by RUN005.
    own = (*work.pod.tolerations, *(trainer.pod.tolerations if trainer else ()))
    if work.queue is not None and any(world.plan.flavor(each.flavor) is None for each in work.queue.flavors()):
        return
    for choice in work.choices:
        if choice.flavor and untolerated(choice.flavor.node_taints, (*own, *choice.flavor.tolerations)):
            continue  # Kueue passes over this flavor: QUE021, if there is no other
        taints = [keeping_away(each, (*own, *choice.tolerations), work.asks) for each in choice.pools]
        if taints and all(taints):
            name = f"flavor `{choice.flavor.name}`" if choice.flavor else ""
            by = f" ({name})" if name else ""
            yield Finding(
                f"job `{work.name}` does not tolerate `{taints[0]}` of pool `{choice.pools[0].name}`{by}",
                work.pod.where("tolerations"), label="its pods stay Pending",
                help="add the toleration to the runtime" + (f", or to {name}" if name else ""),
            )
            return
