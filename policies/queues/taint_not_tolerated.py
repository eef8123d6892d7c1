from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import MISSPELT, Pod, Resources
from trainyard.judge.model.choice import Choice
from trainyard.judge.model.choices import find_choices, groups_of, knows_flavors, repelling_taint
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan.scheduling import Toleration, untolerated


@rule("QUE003", kubernetes="Slurm has no taints", pods=True)
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
    if work.tolerations is None or work.queue_unknown:
        return
    if work.runtime:
        trainer = work.runtime.trainer()
    else:
        trainer = None
    # What a patch drops of the runtime's tolerations is reported by RUN005.
    own = work.tolerations
    if trainer is not None:
        own = (*own, *trainer.pod.tolerations)
    if not knows_flavors(work, world):
        return
    for choice in work.choices:
        if _passed_over(choice, own):
            continue
        reach = (*own, *choice.tolerations)
        taints = [repelling_taint(pool, reach, work.asks) for pool in choice.pools]
        if taints and all(taints):
            taint = taints[0]
            key = taint.partition("=")[0].partition(":")[0]
            if key in MISSPELT or work.may_ask(key):
                return  # reported as the name of no device; or EKS tolerates it for the device that is asked for
            by = ""
            other = ""
            if choice.flavor:
                name = f"flavor `{choice.flavor.name}`"
                by = f" ({name})"
                other = f", or to {name}"
            pool = choice.pools[0]
            yield Finding(
                f"{work.title} does not tolerate `{taint}` of pool `{pool.title}`{by}",
                work.where_tolerated,
                label="its pods stay Pending",
                help=f"add the toleration to the runtime{other}",
            )
            return
    yield from _others(work, world)


def _others(work: Work, world: World) -> Iterator[Finding]:
    """Pods other than those of the trainer, which get a flavor of the queue too: an initializer asks for no device
    whose taint EKS would tolerate for it."""
    if work.queue is None:
        return
    for replicated, pod, asks in work.others:
        possible = find_choices(world, pod.node_selector, work.queue, asks, None, pod.pools)
        choices = [choice for choice in possible if not _passed_over(choice, pod.tolerations)]
        taints = [_taint(pod, choice, asks, world) for choice in choices]
        groups = groups_of(work.queue, asks)
        flavors = sum(len(group.flavors) for group in groups)
        if not taints or not all(taints):
            continue
        if len(choices) >= flavors:
            pool = choices[0].pools[0]
            yield Finding(
                f"`{replicated.name}` of {work.title} does not tolerate `{taints[0]}` of pool "
                f"`{pool.title}`",
                pod.where("tolerations"),
                label="its pod stays Pending",
                help="add the toleration to its pods in the runtime, or to the flavor",
            )
            return


def _passed_over(choice: Choice, reach: tuple[Toleration, ...]) -> bool:
    """Whether Kueue passes over a flavor for its own taints: QUE021 reports it, if there is no other."""
    flavor = choice.flavor
    return flavor is not None and bool(
        untolerated(flavor.node_taints, (*reach, *flavor.tolerations))
    )


def _taint(pod: Pod, choice: Choice, asks: Resources, world: World) -> str:
    """A taint that keeps a pod off every node that a flavor sends it to for certain, or nothing."""
    if choice.flavor:
        labels = choice.flavor.node_labels
    else:
        labels = {}
    reach = (*pod.tolerations, *choice.tolerations)
    taints = []
    for pool in choice.pools:
        known = (world.has_label(pool, *label) for label in labels.items())
        if not any(known):
            return ""
        taints.append(repelling_taint(pool, reach, asks))
    if taints and all(taints):
        return taints[0]
    return ""
