from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Resources
from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.choices import flavors_with_quota, groups_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan.scheduling import Toleration, untolerated


@rule("QUE021", kubernetes="flavors are of Kueue, and Slurm has no taints", pods=True)
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
    if work.queue is None:
        return
    for who, reach, asks in _pods(work):
        for group in groups_of(work.queue, asks):
            quotas = flavors_with_quota(work.queue, group, asks)
            flavors = []
            for entry in quotas:
                flavor = world.plan.named(Flavor, entry.flavor)
                if flavor is not None:
                    flavors.append(flavor)
            left = []
            for flavor in flavors:
                tolerated = (*reach, *flavor.tolerations)
                left.append(untolerated(flavor.node_taints, tolerated))
            if not flavors or len(flavors) < len(quotas):
                continue
            if all(left):
                taint = left[0][0]
                first = flavors[0]
                yield Finding(
                    f"{who} does not tolerate `{taint}` of flavor `{first.name}`",
                    first.where("node_taints"),
                    label="the job is never admitted",
                    help="add the toleration to the runtime, or to `tolerations` of the flavor",
                )
                return


def _pods(work: Work) -> Iterator[tuple[str, tuple[Toleration, ...], Resources]]:
    """The pods of a job, by a title, with what they tolerate and ask for; without those that are unknown."""
    if work.tolerations is not None:
        yield work.title, work.tolerations, work.asks
    for replicated, pod, asks in work.others:
        title = f"`{replicated.name}` of {work.title}"
        yield title, pod.tolerations, asks
