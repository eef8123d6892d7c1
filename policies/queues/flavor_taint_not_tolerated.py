from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import untolerated
from compiler.policy.choices import giving, groups_of
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE021", pods=True)
def flavor_taint_not_tolerated(work: Work, world: World) -> Iterator[Finding]:
    """A job tolerates the `nodeTaints` of no flavor of its queue.

    Kueue passes over a flavor with a taint that neither the pods nor the flavor's own `tolerations` tolerate
    ("untolerated taint … in flavor", kueue v0.19.2, flavorassigner). The toleration that EKS adds for devices comes
    later, with the pods: it does not count here.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        spec: {nodeTaints: [{key: team, value: a, effect: NoSchedule}]}

    ## Passes

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        spec:
          nodeTaints: [{key: team, value: a, effect: NoSchedule}]
          tolerations: [{key: team, operator: Exists}]
    """
    own = (
        ((f"{work.title}", work.tolerations, work.asks),)
        if work.tolerations is not None
        else ()
    )
    others = (
        (f"`{each.name}` of {work.title}", pod.tolerations, asks)
        for each, pod, asks in work.others
    )
    for who, reach, asks in (*own, *others):
        for group in groups_of(work.queue, asks):
            found = [
                world.plan.flavor(each.flavor)
                for each in giving(work.queue, group, asks)
            ]
            flavors = [each for each in found if each is not None]
            left = [
                untolerated(flavor.node_taints, (*reach, *flavor.tolerations))
                for flavor in flavors
            ]
            if flavors and len(flavors) == len(found) and all(left):
                yield Finding(
                    f"{who} does not tolerate `{left[0][0]}` of flavor `{flavors[0].name}`",
                    flavors[0].where("node_taints"),
                    label="the job is never admitted",
                    help="add the toleration to the runtime, or to `tolerations` of the flavor",
                )
                return
