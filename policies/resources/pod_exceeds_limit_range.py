from __future__ import annotations

from collections.abc import Iterator

from compiler.core.pods.plan import Resources
from compiler.manifest import Manifest
from compiler.model.values import value
from compiler.model.work import Work
from compiler.places import Route
from compiler.plan import Quantity
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World


@rule(
    "LIM014",
    kubernetes="LimitRanges are of namespaces",
    aliases=("pod-over-limit-range",),
    pods=True,
)
def pod_exceeds_limit_range(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more than the LimitRange of its namespace lets a pod have.

    The API server refuses a pod whose container, or whose containers together, are limited to more than `max`
    (Kubernetes 1.36, plugin/pkg/admission/limitranger): Kueue admits the job and holds its quota, and no pod is
    created.

    ## Fails

        apiVersion: v1
        kind: LimitRange
        metadata: {name: small, namespace: team-a}
        spec: {limits: [{type: Container, max: {nvidia.com/gpu: 4}}]}

        apiVersion: v1
        kind: LimitRange
        metadata: {name: small, namespace: team-a}
        spec: {limits: [{type: Pod, max: {memory: 16Gi}}]}

    ## Passes

        apiVersion: v1
        kind: LimitRange
        metadata: {name: large, namespace: team-a}
        spec: {limits: [{type: Container, max: {nvidia.com/gpu: 8, memory: 2Ti}}]}

        apiVersion: v1
        kind: LimitRange
        metadata: {name: small, namespace: team-b}
        spec: {limits: [{type: Container, max: {nvidia.com/gpu: 1}}]}
    """
    if work.main is None:
        return
    for manifest in world.limit_ranges.get(work.namespace, ()):
        yield from _over(work, manifest)


def _over(work: Work, limits: Manifest) -> Iterator[Finding]:
    """The first resource of the job's main pod that is above the most."""
    items = value(limits.body, "spec", "limits")
    if not isinstance(items, list):
        return
    for index, item in enumerate(items):
        asked, what = _asked(work, value(item, "type"))
        most = value(item, "max")
        if not isinstance(most, dict):
            continue
        for resource, text in most.items():
            bound = Quantity.read(text)
            if bound is None or resource not in asked:
                continue
            amount = asked[resource]
            if amount > bound:
                at = ("spec", "limits", index, "max", resource)
                yield Finding(
                    f"{what} of {work.title} has {amount} of `{resource}`, and LimitRange "
                    f"`{limits.ref.name}` allows {text}",
                    Route((limits.id, *at)),
                    label="no pod is created",
                    help="raise the maximum, or make the pods smaller",
                )
                return


def _asked(work: Work, kind: object) -> tuple[Resources, str]:
    """What a container, or all containers of a pod, may use at most."""
    if kind == "Container":
        return work.asks, "a container"
    if kind != "Pod" or work.pod is None:
        return {}, ""
    total = dict(work.asks)
    if work.main:
        main = work.main.name
    else:
        main = ""
    for container in work.pod.containers:
        if container.name == main:
            continue
        amounts = {**container.requests, **container.limits}
        for name, amount in amounts.items():
            before = total.get(name, Quantity(0))
            total[name] = before + amount
    return total, "a pod"
