from __future__ import annotations

from collections.abc import Iterator

from compiler.plan import Plan
from compiler.plan.jobs import MISSPELT, Container, TrainJob
from compiler.policy.rule import Finding, rule
from compiler.source import Route


@rule("EFA004")
def device_key_misspelt(plan: Plan) -> Iterator[Finding]:
    """A device is asked for, or given quota, by a resource name that no device plugin offers.

    Extended resources have a domain and a name: `nvidia.com/gpu`, `aws.amazon.com/neuron`, `vpc.amazonaws.com/efa`
    (NVIDIA device plugin 0.20.0, Neuron and EFA device plugins). Under any other name no node has any, so pods stay
    Pending, and quota for it admits nothing. Taints and tolerations for a device have its name as key.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {resourcesPerNode: {limits: {nvidia.com: 8}, requests: {nvidia.com: 8}}}}

    ## Passes

        jobs: [{name: llama}]
    """
    for job in plan.jobs:
        yield from _asked(job)
    for runtime in plan.runtimes:
        for container in (each for replicated in runtime.jobs for each in replicated.pod.containers):
            yield from _asked(container)
        for pod in (each.pod for each in runtime.jobs):
            for index, toleration in enumerate(pod.tolerations):
                yield from _judge(toleration.key, pod.where("tolerations") / index / "key")
    for queue in plan.cluster_queues:
        for group in queue.groups:
            for index, name in enumerate(group.covered):
                yield from _judge(name, group.where("covered") / index)
    for pool in plan.node_pools:
        for index, taint in enumerate(pool.taints):
            yield from _judge(taint.key, pool.where("taints") / index / "key")


def _asked(node: TrainJob | Container) -> Iterator[Finding]:
    """Each name once, at its key."""
    places = {name: node.where(field) / name for field in ("requests", "limits") for name in getattr(node, field)
              if name in MISSPELT}
    for name, at in places.items():
        yield from _judge(name, at)


def _judge(name: str, at: Route) -> Iterator[Finding]:
    right = MISSPELT.get(name)
    if right is not None:
        yield Finding(f"`{name}` is the name of no device", at, help=f"did you mean `{right}`?")
