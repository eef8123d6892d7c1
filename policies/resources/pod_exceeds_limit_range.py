from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.core.pods.plan import Resources
from trainyard.judge.model.amounts import amounts_of, total
from trainyard.judge.model.values import value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Quantity


@rule(
    "LIM014",
    kubernetes="LimitRanges are of namespaces",
    aliases=("pod-over-limit-range",),
    pods=True,
)
def pod_exceeds_limit_range(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more than the LimitRange of its namespace lets a pod have.

    The API server refuses a pod whose container, or whose containers together, are limited to more than `max`, init
    containers and sidecars among them (Kubernetes 1.36, plugin/pkg/admission/limitranger): Kueue admits the job and
    holds its quota, and no pod is created.

    ## Fails

        apiVersion: v1
        kind: LimitRange
        metadata: {name: small, namespace: team-a}
        spec: {limits: [{type: Container, max: {nvidia.com/gpu: 4}}]}

        apiVersion: v1
        kind: LimitRange
        metadata: {name: small, namespace: team-a}
        spec: {limits: [{type: Pod, max: {memory: 16Gi}}]}

        apiVersion: v1
        kind: LimitRange
        metadata: {name: small, namespace: team-a}
        spec: {limits: [{type: Pod, max: {cpu: 95}}]}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {initContainers: [
          {name: logs, image: "bit:4.1", restartPolicy: Always, resources: {requests: {cpu: 0}, limits: {cpu: 6}}}
          ]}}}}}]}}}

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
    for manifest in world.limit_ranges.get(work.namespace, ()):
        yield from _over(work, manifest)


def _over(work: Work, limits: Manifest) -> Iterator[Finding]:
    """The first resource of the job's main pod that is above the most."""
    items = value_at(limits.body, "spec", "limits")
    if not isinstance(items, list):
        return
    for index, item in enumerate(items):
        most = value_at(item, "max")
        if not isinstance(most, dict):
            continue
        for asked, what in _asked(work, value_at(item, "type")):
            resource = _first_above(asked, most)
            if resource is None:
                continue
            at = ("spec", "limits", index, "max", resource)
            yield Finding(
                f"{what} of {work.title} has {asked[resource]} of `{resource}`, and LimitRange "
                f"`{limits.ref.name}` allows {most[resource]}",
                Route((limits.id, *at)),
                label="no pod is created",
                help="raise the maximum, or make the pods smaller",
            )
            return


def _first_above(asked: Resources, most: Mapping[str, object]) -> str | None:
    for resource, text in most.items():
        bound = Quantity.read(text)
        if bound is not None and resource in asked and asked[resource] > bound:
            return resource
    return None


def _asked(work: Work, kind: object) -> Iterator[tuple[Resources, str]]:
    """What each container, or the whole pod, may use at most; nothing while the pod is unknown."""
    pod, main = work.pod, work.main
    if pod is None or main is None:
        return
    most = {**work.asks, **main.limits}
    if kind == "Pod":
        yield total(pod, amounts_of, {main.name: most}), "a pod"
    elif kind == "Container":
        yield most, "a container"
        for container in (*pod.containers, *pod.init_containers):
            if container.name != main.name:
                yield amounts_of(container), f"container `{container.name}`"
