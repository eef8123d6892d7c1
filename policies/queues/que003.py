from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import untolerated
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
    if work.pod is None or not work.pools:
        return
    trainer = work.runtime.trainer() if work.runtime else None
    # What a patch drops of the runtime's tolerations is told by RUN005.
    reach = [*work.pod.tolerations, *(trainer.pod.tolerations if trainer else ())]
    for each in work.queue.flavors() if work.queue else ():
        flavor = world.plan.flavor(each.flavor)
        if flavor is None:
            return
        reach.extend(flavor.tolerations)
    left = {}
    for pool in work.pools:
        found = [each for each in untolerated(pool.taints, tuple(reach)) if each.key not in work.asks]
        if not found:
            return
        left[pool.name] = found[0]
    name, taint = next(iter(left.items()))
    yield Finding(
        f"job `{work.name}` does not tolerate `{taint}` of pool `{name}`", work.pod.where("tolerations"),
        label="its pods stay Pending", help="add the toleration to the runtime or to the flavor",
    )
